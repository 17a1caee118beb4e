# Ends the session $1 with all that runs in it: HUP, TERM, and KILL after $2 tenths of a second. One that has ended is
# forgotten. Exit: 0 done, 10 no such session, 1 not permitted.
name=$1 tenths=$2
find_session "$name" || exit 10
# shellcheck disable=SC2154 # from session-common.sh
read -r master ticks _ id <"$dir/master"
read -r shell shell_ticks 2>/dev/null <"$dir/shell"

if runs "$dir"; then running=1; else running=; fi
# The terminal of the shell. The number of one that has ended may be somebody else's by now.
tty=0
terminal_of() { tty=$5; }
# shellcheck disable=SC2086,SC2154 # fields, from session-common.sh
if lives "$shell" "$shell_ticks"; then terminal_of $fields; else shell=; fi

# Those that keep the session, which have to see how it ends.
keepers=" $master $$ "
# shellcheck disable=SC2013 # names of files
for file in $(grep -ls "SBX_SESSION_WATCH=$id" /proc/[0-9]*/environ 2>/dev/null); do
  file=${file#/proc/}
  keepers="$keepers${file%/environ} "
done

member() { # pid, fields: by terminal, by the session that the shell leads, by its parent
  m_pid=$1
  shift
  case $1 in Z | X) return 1 ;; esac
  [ "$m_pid" = "$shell" ] && return 0
  # Terminals of other sandboxes that can be seen from here have the same numbers.
  # shellcheck disable=SC3013 # dash and busybox have -ef
  [ "$tty" != 0 ] && [ "$5" = "$tty" ] && [ "/proc/$m_pid/ns/mnt" -ef "/proc/$$/ns/mnt" ] && return 0
  [ -n "$shell" ] && [ "$4" = "$shell" ] && return 0
  case $members in *" $2 "*) return 0 ;; esac
  return 1
}
# Everything of the session but its keepers, into $members.
find_members() {
  members=' '
  # shellcheck disable=SC2013 # names of files
  for file in $(grep -ls "SBX_SESSION_ID=$id" /proc/[0-9]*/environ 2>/dev/null); do
    file=${file#/proc/}
    file=${file%/environ}
    case $keepers in *" $file "*) continue ;; esac
    if stat_of "$file"; then case $fields in Z* | X*) ;; *) members="$members$file " ;; esac; fi
  done
  more=1
  # A child may have a smaller number than its parent.
  while [ -n "$more" ]; do
    more=
    for file in /proc/[0-9]*/stat; do
      pid=${file#/proc/}
      pid=${pid%/stat}
      case $members$keepers in *" $pid "*) continue ;; esac
      # shellcheck disable=SC2086 # fields
      if stat_of "$pid" && member "$pid" $fields; then members="$members$pid " more=1; fi
    done
  done
  [ "$members" != ' ' ]
}
failed=
send() { # signal
  for pid in $members; do
    kill -s "$1" "$pid" 2>/dev/null || [ ! -d "/proc/$pid" ] || failed=$pid
  done
}
# Waits up to $1 tenths of a second for everything to be gone, looking less and less often: a look reads all of /proc.
settled() {
  left=$1 step=1
  while find_members; do
    [ "$left" -gt 0 ] || return 1
    sleep "0.$step" 2>/dev/null || { sleep 1 && step=10; }
    left=$((left - step))
    [ $step -ge 8 ] || step=$((step * 2))
  done
}
if find_members; then
  send HUP
  send CONT
  settled $((tenths / 2)) || { send TERM && settled $((tenths - tenths / 2)); }
fi
rounds=0
while find_members && [ $rounds -lt 20 ]; do
  failed=
  send KILL
  [ -z "$failed" ] || { echo "process $failed may not be ended" >&2; exit 1; }
  rounds=$((rounds + 1))
done
if [ -z "$running" ]; then rm -rf "$dir"; exit; fi

# The keepers end by themselves once the shell has; those that do not are of no use any more.
left=20
while [ ! -e "$dir/exit" ] && lives "$master" "$ticks" && [ $left -gt 0 ]; do
  sleep 0.1 2>/dev/null || sleep 1
  left=$((left - 1))
done
for pid in $keepers; do
  [ "$pid" = $$ ] || grep -qs "SBX_SESSION_WATCH=$id" "/proc/$pid/environ" && [ $left = 0 ] && kill -s KILL "$pid" 2>/dev/null
done
[ -e "$dir/exit" ] || echo "- $(date +%s)" >"$dir/exit"
exit 0
