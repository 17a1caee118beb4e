# Runs a command on the terminal of a shell that a server has opened: a client typed this in, in the shell's place. Before it comes
# the function sbx_run (exec-become.sh), and what the client says, as for exec-text.sh, with SBX_SIZE,
# "ROWS COLS". The command is in our group, which has the terminal. What the client is to see stands between "sbx:MARK:PID;" and
# "sbx:MARK:exit:N;".
# shellcheck disable=SC2034 # for exec-become.sh
sbx_leads=1
# Signals for the command's group must not end us; it has them as they were.
trap : HUP INT QUIT USR1 USR2 PIPE ALRM TERM TSTP
stty rows "${SBX_SIZE% *}" cols "${SBX_SIZE#* }" 2> /dev/null
printf 'sbx:%s:%s;' "$SBX_MARK" "$$"
(sbx_run "$@")
printf 'sbx:%s:exit:%s;' "$SBX_MARK" "$?"
