# Watches over a command that another process runs: exec-watch.sh comes before this text. Standard input has the client's
# lines, standard output answers. $1 the mark; $2 the process id of the command, if it is known already: else "main PID" comes in.
# shellcheck disable=SC2034 # for exec-watch.sh
SBX_MARK=$1
# shellcheck disable=SC2034 # for exec-watch.sh
sbx_self=${2-}
sbx_tell() {
  echo "$1"
}
sbx_lost() {
  sbx_terminate 50
}
exec 3<&0 < /dev/null
sbx_watch
