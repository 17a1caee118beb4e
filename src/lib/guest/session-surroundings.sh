# Prints where the shell of session $1 is: its working folder, a line with $2 (which no folder can know), and its
# environment, each entry followed by a NUL. Exit: 0, 10 no such session, 11 it has ended.
find_session "$1" || exit 10
# shellcheck disable=SC2154 # from session-common.sh
runs "$dir" && read -r pid ticks <"$dir/shell" && lives "$pid" "$ticks" || exit 11
readlink "/proc/$pid/cwd" || exit 1
printf '%s\n' "$2"
cat "/proc/$pid/environ"
