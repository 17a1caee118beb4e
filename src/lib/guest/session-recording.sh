# Prints the last $2 bytes of what session $1 has printed. Exit: 0, 10 no such session.
find_session "$1" || exit 10
# shellcheck disable=SC2154 # from session-common.sh
[ ! -f "$dir/recording" ] || tail -c "$2" "$dir/recording"
