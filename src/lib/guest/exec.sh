# Runs a command under the control of a client that may vanish. The text comes in SBX_EXEC, so that `ps` inside stays
# readable. $1 workdir; $2... the command. Environment: SBX_MARK becomes the SBX_EXEC_ID that marks what the command
# starts; SBX_LATE names variables that must not act before the command itself runs (each is in SBX_LATE_name); SBX_LEADS
# is set when we lead a process group already, which the watcher has to leave then: it is started once more, with
# SBX_WATCHED as the command's process.
# Descriptor 3 is the client. "ok" goes out once we are here. Lines come in: a signal's name for the command's process
# group, "terminate TENTHS" for everything that carries the mark (answered by "gone"), "size ROWS COLS", "end" when all
# is over. End of file without "end" means that the client is gone: the command and what it started end too.
sbx_dir=$1
shift
sbx_self=${SBX_WATCHED:-$$}
sbx_watch() {
  while read -r sbx_word sbx_a sbx_b <&3; do
    case $sbx_word in
      end) exit 0 ;;
      terminate) sbx_terminate "$sbx_a" & ;;
      size) sbx_size "$sbx_a" "$sbx_b" ;;
      *) sbx_group "$sbx_word" ;;
    esac
  done
  sbx_terminate 50
  exit 0
}
# The command has a group of its own as soon as it runs; until then there is only itself.
# dash wants the "--", busybox does not take it.
sbx_group() {
  kill -s "$1" -- "-$sbx_self" 2> /dev/null || kill -s "$1" "-$sbx_self" 2> /dev/null || kill -s "$1" "$sbx_self" 2> /dev/null
}
# TERM, and KILL after as many tenths of a second.
sbx_terminate() {
  sbx_left=$1
  if [ "$sbx_left" -gt 0 ]; then
    sbx_sweep TERM
    sbx_sweep CONT
    while [ "$sbx_left" -gt 0 ] && { kill -0 "$sbx_self" 2> /dev/null || sbx_marked; }; do
      sleep 0.1 2> /dev/null || sleep 1
      sbx_left=$((sbx_left - 1))
    done
  fi
  sbx_sweep KILL
  echo gone >&3
}
# What carries the mark and lives, into sbx_pids.
sbx_marked() {
  sbx_pids=
  for sbx_file in $(grep -ls "SBX_EXEC_ID=$SBX_MARK" /proc/[0-9]*/environ 2> /dev/null); do
    sbx_pid=${sbx_file#/proc/}
    sbx_pid=${sbx_pid%/environ}
    kill -0 "$sbx_pid" 2> /dev/null && sbx_pids="$sbx_pids $sbx_pid"
  done
  [ -n "$sbx_pids" ]
}
# The group first: a script whose children die one by one would go on to its next line. A child may be born while we
# look for the others, so we look until there is nothing new.
sbx_sweep() {
  sbx_group "$1"
  sbx_seen=" $sbx_self "
  sbx_new=1
  while [ -n "$sbx_new" ] && sbx_marked; do
    sbx_new=
    for sbx_pid in $sbx_pids; do
      case $sbx_seen in
        *" $sbx_pid "*) ;;
        *)
          sbx_new=1
          sbx_seen="$sbx_seen$sbx_pid "
          kill -s "$1" "$sbx_pid" 2> /dev/null
          ;;
      esac
    done
  done
}
sbx_size() {
  for sbx_child in $(cat "/proc/$sbx_self/task/$sbx_self/children" 2> /dev/null); do
    stty rows "$1" cols "$2" < "/proc/$sbx_child/fd/0" 2> /dev/null
  done
}
if [ -n "${SBX_WATCHED-}" ]; then
  sbx_watch
fi
# Before the watcher is there: whoever it ends without having said a word would be waited for as long as it lives.
echo ok >&3
# Not a child of the command, which may wait for any child of its own.
if [ -n "${SBX_LEADS-}" ]; then
  (SBX_WATCHED=$$ setsid /bin/sh -c 'eval "$SBX_EXEC"' sbx-exec / > /dev/null 2>&1 < /dev/null &)
else
  (sbx_watch > /dev/null 2>&1 < /dev/null &)
fi
exec 3>&-
cd -- "$sbx_dir" 2> /dev/null || {
  printf 'sbx: cannot enter the workdir %s\n' "$sbx_dir" >&2
  exit 126
}
for sbx_name in $SBX_LATE; do
  eval "export $sbx_name=\"\$SBX_LATE_$sbx_name\"; unset SBX_LATE_$sbx_name"
done
export SBX_EXEC_ID="$SBX_MARK"
sbx_leads=${SBX_LEADS-}
unset SBX_LATE SBX_EXEC SBX_MARK SBX_LEADS OLDPWD
case $1 in
  '') ;;
  */*)
    [ -e "$1" ] || [ -L "$1" ] || { printf 'sbx: %s: not found\n' "$1" >&2; exit 127; }
    if [ -d "$1" ] || [ ! -x "$1" ]; then printf 'sbx: %s: cannot be run\n' "$1" >&2; exit 126; fi
    ;;
  *) command -v -- "$1" > /dev/null 2>&1 || { printf 'sbx: %s: not found\n' "$1" >&2; exit 127; } ;;
esac
# A group of its own, so that a signal for the command is none for the watcher.
[ -z "$sbx_leads" ] && command -v setsid > /dev/null 2>&1 && exec setsid -- "$@"
exec "$@"
