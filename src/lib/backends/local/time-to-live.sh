# Ends a sandbox when its time is over. $1 seconds, $2 the pid of its init, $3 that process's start in clock ticks: by
# then the pid may be somebody else's.
sleep "$1"
read -r line < "/proc/$2/stat" || exit 0
ticks=$3
pid=$2
# Behind the command's name, which may hold anything, the 20th field is the start.
# shellcheck disable=SC2086
set -- ${line##*) }
shift 19
[ "$1" = "$ticks" ] && kill -s KILL "$pid"
