# Ends a sandbox when its time is over. $1 seconds, $2 the pid of its init, $3 that process's start in clock ticks: by
# then the pid may be somebody else's. $4 the init file: when the client lets go of descriptor 3, a timer that is not
# named there is one whose client was killed before it could be known, and ends. $5 the mark of a sandbox without walls:
# nothing else ends its processes with the one that stands for it.
read -r line <&3
exec 3<&-
named=
while read -r line; do
  case $line in *'"pid": '"$$",*) named=yes ;; esac
done < "$4" || exit 0
[ -n "$named" ] || exit 0
sleep "$1"
ticks=$3
pid=$2
mark=$5
if read -r line < "/proc/$pid/stat"; then
  # Behind the command's name, which may hold anything, the 20th field is the start.
  # shellcheck disable=SC2086
  set -- ${line##*) }
  shift 19
  [ "$1" = "$ticks" ] && kill -s KILL "$pid"
fi
# The session of a process, from its stat file: what cleared its environment is in the session of what did not.
session_of() {
  session=
  read -r line 2> /dev/null < "$1" || return 1
  # shellcheck disable=SC2086
  set -- ${line##*) }
  session=$4
}
rounds=0
while [ -n "$mark" ] && [ "$rounds" -lt 50 ]; do
  # Its exit code only tells that some processes are not ours to look at.
  found=$(grep -ls "SBX_SANDBOX_ID=$mark" /proc/[0-9]*/environ 2> /dev/null)
  [ -n "$found" ] || exit 0
  sessions=' '
  for file in $found; do
    session_of "${file%environ}stat" && sessions="$sessions$session "
  done
  for file in /proc/[0-9]*/stat; do
    session_of "$file" || continue
    pid=${file#/proc/}
    case $sessions in *" $session "*) kill -s KILL "${pid%/stat}" 2> /dev/null ;; esac
  done
  rounds=$((rounds + 1))
  sleep 0.1 2> /dev/null || sleep 1
done
