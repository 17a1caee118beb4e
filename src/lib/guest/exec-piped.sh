# shellcheck disable=SC2034,SC2094 # for exec-watch.sh; both ends of FIFOs
# Runs a command whose streams are FIFOs that a client on this machine has made: the body of a function of exec-server.sh. After
# it come exec-environment.sh and exec-become.sh, before it exec-watch.sh. $1 is the path that the names of all begin with: the
# request itself, which sets SBX_MARK, SBX_INPUT, the late variables and, as arguments, workdir and command; .to and .from, lines of
# the client and for it; .told, the watcher's answers; .in, .out, .err. Descriptor 8 is .from.
# A FIFO is opened both ways first, which waits for nobody. "go" can be read once: whoever reads it decides that the command runs,
# the client itself when it has waited long enough.
sbx_name=$1
read -r sbx_self _ < /proc/self/stat
# shellcheck disable=SC1090
. "$sbx_name"
exec 9<> "$sbx_name.to" 3< "$sbx_name.to"
exec 9<> "$sbx_name.told" 5> "$sbx_name.told"
exec 9<> "$sbx_name.out" > "$sbx_name.out"
exec 9<> "$sbx_name.err" 2> "$sbx_name.err"
[ "$SBX_INPUT" = none ] || exec 9<> "$sbx_name.in" < "$sbx_name.in"
exec 9<&-
read -r sbx_word <&3 && [ "$sbx_word" = go ] && echo begun >&8 || exit
sbx_tell() {
  echo "$1" >&5
}
sbx_lost() {
  sbx_terminate 50
}
( {
  exec < /dev/null > /dev/null 2>&1 8>&-
  sbx_watch
} & )
exec 3<&- 5>&- 8>&-
unset SBX_INPUT
