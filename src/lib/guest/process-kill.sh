# Sends signal $2 to the process $1: to its group, and with $3 = all also to whatever else carries its mark.
# Exit: 0 sent, 10 no such process, 11 it has ended, 1 not permitted.
id=$1 signal=$2 reach=$3
dir=
for base in "${SBX_GUEST_DIR:-/var/lib/sbx}" /tmp/.sbx-*; do
  [ ! -d "$base/processes/$id" ] || dir=$base/processes/$id
done
[ -n "$dir" ] || exit 10
[ ! -e "$dir/exit" ] && read -r pid ticks _ 2>/dev/null <"$dir/started" || exit 11

group=
line=$(tr '\n' ' ' 2>/dev/null <"/proc/$pid/stat") || exit 11
[ -n "$line" ] || exit 11
check() {
  case $1 in Z | X) return 1 ;; esac
  [ "$ticks" = 0 ] || [ "$ticks" = "${20}" ] || return 1
  group=$3
}
# shellcheck disable=SC2086 # the fields of the line
check ${line##*) } || exit 11

# Looked for first: what is about to lose its parent keeps its mark, but may be gone from the group.
others=
if [ "$reach" = all ]; then
  others=$(grep -ls "SBX_PROCESS_ID=$id" /proc/[0-9]*/environ 2>/dev/null)
fi
failed=0
# The one form for a group that dash and busybox both take.
target=$pid
[ "$group" != "$pid" ] || target=-$pid
kill "-$signal" "$target" 2>/dev/null || failed=1
[ $failed = 0 ] || { echo "signal $signal may not be sent to process $pid" >&2; exit 1; }

# What was in the group has the signal already, and shall not get it twice.
outside() {
  other=${1#/proc/}
  other=${other%/environ}
  [ "$other" != "$pid" ] && line=$(tr '\n' ' ' 2>/dev/null <"/proc/$other/stat") && [ -n "$line" ] || return 1
  # shellcheck disable=SC2086 # the fields of the line
  set -- ${line##*) }
  [ "$3" != "$pid" ]
}
for one in $others; do
  if outside "$one"; then kill -s "$signal" "$other" 2>/dev/null; fi
done
# A process that forked meanwhile: again until nothing is left, for the signal that cannot be refused.
rounds=0
while [ "$signal" = KILL ] && [ "$reach" = all ] && [ $rounds -lt 5 ]; do
  rounds=$((rounds + 1))
  # Not by the exit code of grep, which tells of any process that it could not look at or that ended meanwhile.
  others=$(grep -ls "SBX_PROCESS_ID=$id" /proc/[0-9]*/environ 2>/dev/null)
  [ -n "$others" ] || break
  for one in $others; do
    one=${one#/proc/}
    kill -s KILL "${one%/environ}" 2>/dev/null
  done
done
exit 0
