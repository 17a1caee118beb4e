# The watcher of a command: functions for the programs that start one. Lines come in on descriptor 3: a signal's name for
# the command's process group, "terminate TENTHS" for everything that carries the mark (answered by "gone"),
# "size ROWS COLS" (by "sized"), "main PID", "end" when all is over. Whoever uses them sets sbx_self, the process id of the command, and SBX_MARK,
# the value of SBX_EXEC_ID that marks what the command starts, and says how to answer: sbx_tell WORD; and what the end of
# file without "end" means: sbx_lost.
sbx_watch() {
  while read -r sbx_word sbx_a sbx_b <&3; do
    case $sbx_word in
      end) exit 0 ;;
      main) sbx_self=$sbx_a ;;
      terminate) sbx_terminate "$sbx_a" & ;;
      size)
        sbx_size "$sbx_a" "$sbx_b"
        sbx_tell sized
        ;;
      *) sbx_group "$sbx_word" ;;
    esac
  done
  sbx_lost
  exit 0
}
# The command has a group of its own as soon as it runs; until then there is only itself.
# In this form: with `-s` dash wants a "--", which busybox complains of after it has sent the signal.
sbx_group() {
  kill "-$1" "-$sbx_self" 2> /dev/null || kill "-$1" "$sbx_self" 2> /dev/null
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
  sbx_tell gone
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
