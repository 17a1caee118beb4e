# Ends a sandbox when its time is over. $1 seconds, $2 the pid of its init, $3 that process's start in clock ticks: by
# then the pid may be somebody else's. $4 the init file: when the client lets go of descriptor 3, a timer that is not
# named there is one whose client was killed before it could be known, and ends.
read -r line <&3
exec 3<&-
named=
while read -r line; do
  case $line in *'"pid": '"$$",*) named=yes ;; esac
done < "$4" || exit 0
[ -n "$named" ] || exit 0
sleep "$1"
read -r line < "/proc/$2/stat" || exit 0
ticks=$3
pid=$2
# Behind the command's name, which may hold anything, the 20th field is the start.
# shellcheck disable=SC2086
set -- ${line##*) }
shift 19
[ "$1" = "$ticks" ] && kill -s KILL "$pid"
