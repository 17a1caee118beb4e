# Runs a command that an engine has attached to its client: exec-watch.sh comes before this text, exec-become.sh after it.
# The text comes in SBX_EXEC. $1 workdir; $2... the command. Environment: SBX_MARK; SBX_INPUT is "lines" when the standard
# input is the client's lines, "data" when it is the command's own; SBX_SIZE, "ROWS COLS" of the terminal, where there is one.
# The engine made us the leader of a session. What comes first on each output is for the client: "sbx:MARK:PID;".
sbx_self=$$
# shellcheck disable=SC2034 # for exec-become.sh
sbx_leads=1
sbx_tell() {
  :
}
# The engine also closes the lines when the command has ended; what that left behind stays then.
sbx_lost() {
  kill -0 "$sbx_self" 2> /dev/null && sbx_terminate 50
}
printf 'sbx:%s:%s;' "$SBX_MARK" "$$"
if [ -n "${SBX_SIZE-}" ]; then
  stty rows "${SBX_SIZE% *}" cols "${SBX_SIZE#* }" 2> /dev/null
else
  printf 'sbx:%s:%s;' "$SBX_MARK" "$$" >&2
fi
if [ "$SBX_INPUT" = lines ]; then
  exec 3<&0 < /dev/null
  # A group of its own would take another program, so the watcher ignores what is meant for the command; STOP comes by another
  # watcher. The outputs go by `exec`: a shell keeps open what a redirection hides, and the engine waits for its end.
  ( {
    exec > /dev/null 2>&1
    trap '' HUP INT QUIT ABRT USR1 SEGV USR2 PIPE ALRM TERM TSTP TTIN TTOU
    sbx_watch
  } & )
  exec 3<&-
fi
unset SBX_INPUT SBX_SIZE
# The sandbox's own environment, where it was changed.
# shellcheck disable=SC1091
[ ! -r /var/lib/sbx/env ] || . /var/lib/sbx/env
