# Runs the program $1 with the rest as its arguments, to its end, even when the client that waits for it dies meanwhile.
program=$1
shift
# Whoever ends this exec by its mark must not end what is started here.
unset SBX_EXEC_ID
if command -v setsid >/dev/null 2>&1; then
  # Not as the leader of a group, which would have to fork.
  (setsid sh -c "$program" sbx-swap "$@") &
  wait $!
else
  sh -c "$program" sbx-swap "$@"
fi
