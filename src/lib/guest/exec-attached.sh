# Runs a command that an engine has attached to its client: exec-watch.sh comes before this text, exec-environment.sh and
# exec-become.sh after it. The text comes in SBX_EXEC. $1 workdir; $2... the command. Environment: SBX_MARK; SBX_INPUT is "lines" when the standard
# input is the client's lines, "data" when it is the command's own; SBX_SIZE, "ROWS COLS" of the terminal, where there is one;
# SBX_SERVE, a program to be started beside. The engine made us the leader of a session. What comes first on each output is for the client: "sbx:MARK:PID;".
sbx_self=${SBX_WATCHED:-$$}
# shellcheck disable=SC2034 # for exec-become.sh
sbx_leads=1
sbx_tell() {
  :
}
# The engine also closes the lines when the command has ended; what that left behind stays then.
sbx_lost() {
  kill -0 "$sbx_self" 2> /dev/null && sbx_terminate 50
}
if [ -n "${SBX_WATCHED-}" ]; then
  sbx_watch
fi
printf 'sbx:%s:%s;' "$SBX_MARK" "$$"
if [ -n "${SBX_SIZE-}" ]; then
  stty rows "${SBX_SIZE% *}" cols "${SBX_SIZE#* }" 2> /dev/null
else
  printf 'sbx:%s:%s;' "$SBX_MARK" "$$" >&2
fi
if [ "$SBX_INPUT" = lines ]; then
  exec 3<&0 < /dev/null
  # Out of the command's group, where what is meant for the command would reach it too. Where that cannot be had it ignores what
  # can be ignored. The outputs go by `exec`: a shell keeps open what a redirection hides, and the engine waits for its end.
  ( {
    exec > /dev/null 2>&1
    export SBX_WATCHED=$$
    # shellcheck disable=SC2016 # it is expanded there
    command -v setsid && exec setsid /bin/sh -c 'eval "$SBX_EXEC"' sbx-exec /
    trap '' HUP INT QUIT ABRT USR1 SEGV USR2 PIPE ALRM TERM TSTP TTIN TTOU
    sbx_watch
  } & )
  exec 3<&-
fi
# Where none serves the requests of clients (exec-server.sh), it is time for one.
[ -z "${SBX_SERVE-}" ] || setsid setsid /bin/sh "$SBX_SERVE" < /dev/null > /dev/null 2>&1
unset SBX_INPUT SBX_SIZE SBX_SERVE
