# Runs a command on a terminal of its own. $1 is the command as shell text, $2 rows, $3 columns.
# SHELL belongs to the command, but `script` would run it; so it is set again by the text.
unset SBX_TERMINAL
if command -v script > /dev/null 2>&1; then
  sbx_shell=${SHELL:-/bin/sh}
  export sbx_shell
  SHELL=/bin/sh exec script -qefc "stty rows $2 cols $3 2> /dev/null; SHELL=\$sbx_shell; unset sbx_shell; $1" /dev/null
fi
if command -v python3 > /dev/null 2>&1; then
  exec python3 -c 'import os, pty, sys
code = pty.spawn(["/bin/sh", "-c", "stty rows %s cols %s 2> /dev/null; %s" % (sys.argv[2], sys.argv[3], sys.argv[1])])
sys.exit(os.waitstatus_to_exitcode(code) if os.WIFEXITED(code) else 128 + os.WTERMSIG(code))' "$1" "$2" "$3"
fi
# The terminal of whoever reads this is in raw mode.
printf '%s\r\n' 'sbx: no terminal here: it takes "script" (util-linux) or python3 in the sandbox; sbx exec -T does without' >&2
exit 126
