# Starts commands in a container for clients on this machine, past the engine: exec-watch.sh and the function sbx_run (see
# exec-piped.sh) come before this text. It lies in a folder that only the client can write to, beside the FIFO `requests`; each
# line there is the name of a request in the folder. One that nobody waits for cannot be run: its FIFOs are gone.
sbx_here=${0%/*}
[ -p "$sbx_here/requests" ] || exit 0
# Whether process $1 does this work, and in sbx_since when it began to.
sbx_look() {
  read -r sbx_state 2> /dev/null < "/proc/$1/stat" || return
  case $sbx_state in "$1 (sh) "*) ;; *) return 1 ;; esac
  # shellcheck disable=SC2086 # the fields
  set -- "$1" ${sbx_state##*) }
  sbx_since=${21}
  # Those that take care of a request are in the session of the one who started them.
  [ "$5" = "$1" ] || return
  sbx_words=
  IFS= read -r sbx_words 2> /dev/null < "/proc/$1/cmdline"
  [ "$sbx_words" = "/bin/sh$0" ]
}
# One is enough, and two would tear the lines apart.
sbx_look "$$"
sbx_mine=$sbx_since
for sbx_pid in /proc/[0-9]*; do
  sbx_pid=${sbx_pid#/proc/}
  if [ "$sbx_pid" = "$$" ] || ! sbx_look "$sbx_pid" || [ "$sbx_since" -gt "$sbx_mine" ]; then continue; fi
  if [ "$sbx_since" = "$sbx_mine" ] && [ "$sbx_pid" -gt "$$" ]; then continue; fi
  exit 0
done
sbx_handle() {
  read -r _ _ _ sbx_parent _ < /proc/self/stat
  # Nobody waits for us then: the next request can come. A command in the background would ignore INT for ever.
  [ "$sbx_parent" != "$sbx_front" ] || kill "$sbx_front"
  # shellcheck disable=SC2094 # both ends, to wait for nobody
  exec 9<> "$1.from" 8> "$1.from" 9>&- 4<&-
  # To tell the end of a command when all are asked to end.
  trap : TERM PIPE
  (sbx_run "$1")
  echo "exit $?" >&8
}
cd /
exec 4<> "$sbx_here/requests" < /dev/null > /dev/null 2>&1
# A shell that cannot fork gives up; there may be room for the next request.
trap 'exec /bin/sh "$0"' EXIT
while read -r sbx_request <&4; do
  case $sbx_request in '' | *[!0-9a-f]*) continue ;; esac
  [ -f "$sbx_here/$sbx_request" ] || continue
  (
    read -r sbx_front _ < /proc/self/stat
    (sbx_handle "$sbx_here/$sbx_request")
    :
  )
done
