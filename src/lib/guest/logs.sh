# Prints the log of the process $1. First a head:
#   log START NOW         the position of the first byte that follows, and the sandbox's clock
#   TIME SIZE …           the time index: at TIME (epoch seconds) the log was SIZE bytes long
#   an empty line
# and then the bytes. $2: `follow` until the process ends, or ''. $3: only so many last lines, or ''.
# $4, $5: only what was written from, or until, this epoch second, or ''.
# Exit: 0, 10 no such process.
id=$1 follow=$2 tail=$3 since=$4 until=$5
dir=
for base in "${SBX_GUEST_DIR:-/var/lib/sbx}" /tmp/.sbx-*; do
  [ ! -d "$base/processes/$id" ] || dir=$base/processes/$id
done
[ -n "$dir" ] || exit 10
log=$dir/log
exec 4<"$log" || exit 1

if stat -c %s "$log" >/dev/null 2>&1; then
  measure() { stat -c %s "$log"; }
else
  measure() { wc -c <"$log"; }
fi

block=65536
from() { # blocks to skip; the rest of the file
  dd bs=$block skip="$1" 2>/dev/null <"$log"
}
# Start of the last $2 lines before the position $1, not before $3.
lines_before() {
  l_window=$block
  while :; do
    l_skip=$((($1 - l_window) / block))
    [ "$1" -gt $l_window ] || l_skip=0
    l_span=$(($1 - l_skip * block))
    l_bytes=$(from $l_skip | head -c $l_span | tail -n "$2" | wc -c)
    if [ "$l_bytes" -lt $l_span ] || [ $l_skip = 0 ]; then
      start=$(($1 - l_bytes))
      break
    fi
    l_window=$((l_window * 4))
  done
  [ "$start" -ge "$3" ] || start=$3
}
# The start of the line that the position $1 is in: samples fall anywhere.
line_start() {
  start=$1
  [ "$1" -gt 0 ] || return 0
  l_last=$(dd bs=1 skip=$(($1 - 1)) count=1 2>/dev/null <"$log" | tr '\n' N)
  [ "$l_last" = N ] || lines_before "$1" 1 0
}

size=$(measure) end=0 low=0 last=0 index=
while read -r at bytes; do
  case $at$bytes in '' | *[!0-9]*) continue ;; esac
  # A smaller size: the log was truncated, and begins anew.
  [ "$bytes" -ge "$last" ] || { index='' low=0 end=0; }
  last=$bytes
  [ -z "$since" ] || [ "$at" -ge "$since" ] || low=$bytes
  [ -z "$until" ] || [ "$at" -gt "$until" ] || end=$bytes
  index="$index$at $bytes
"
done <"$dir/index"
if [ -z "$until" ] || [ -z "$index" ]; then
  end=
else
  # All that was sampled is old enough: so is the rest, unless the time is over.
  [ "$end" != "$last" ] || [ "$(date +%s)" -gt "$((until + 1))" ] || end=
  if [ "$end" = "$last" ] && [ -e "$dir/exit" ]; then end=$size; fi
  if [ -n "$end" ] && [ "$end" -lt "$size" ]; then
    line_start "$end"
    end=$start
  fi
fi
stop=${end:-$size}
[ "$stop" -le "$size" ] || stop=$size
[ "$low" -le "$stop" ] || low=$stop
line_start "$low"
case $tail in
  '') ;;
  0) start=$stop ;;
  *) low=$start && lines_before "$stop" "$tail" "$low" ;;
esac

printf 'log %s %s\n%s\n' "$start" "$(date +%s)" "$index"
dd bs=1 skip="$start" count=0 <&4 2>/dev/null
if [ -z "$follow" ]; then
  [ "$stop" -le "$start" ] || head -c $((stop - start)) <&4
  exit 0
fi

alive() {
  [ ! -e "$dir/exit" ] && read -r pid ticks _ 2>/dev/null <"$dir/started" || return 1
  line=
  read -r line 2>/dev/null <"/proc/$pid/stat"
  case $line in *') '*) ;; *) line=$(tr '\n' ' ' 2>/dev/null <"/proc/$pid/stat") ;; esac
  # shellcheck disable=SC2086 # the fields of the line
  set -- ${line##*) }
  [ "${1:-Z}" != Z ] && { [ "$ticks" = 0 ] || [ "$ticks" = "${20}" ]; }
}
nap=0.2
sleep 0.01 2>/dev/null || nap=1
if read -r key _ <"/proc/$$/fdinfo/4" && [ "$key" = pos: ]; then
  find_position() { read -r _ position <"/proc/$$/fdinfo/4"; }
  go_on() { cat <&4; }
else
  # gVisor does not tell it.
  position=$start
  find_position() { :; }
  go_on() {
    from $((position / block)) | tail -c +$((position % block + 1)) | head -c $((size - position)) && position=$size
  }
fi
trap 'exit 0' PIPE TERM
while :; do
  if alive; then running=1; else running=; fi
  size=$(measure)
  find_position
  if [ "$size" -lt "$position" ]; then
    exec 4<&- 4<"$log"
    position=0
  fi
  if [ "$size" -gt "$position" ]; then
    go_on || exit 0
  elif [ -z "$running" ]; then
    break
  fi
  [ -z "$running" ] || sleep $nap
  if [ -n "$until" ] && [ "$(date +%s)" -gt "$until" ]; then break; fi
done
