# Prints what the sandbox uses, a `key value` a line; what is not known is left out.
#   cpu_us, cpu_limit (thousandths of a CPU), memory, memory_limit, pids, disk, rx, tx    (bytes, counters)
# $1: `network` when the network namespace is the sandbox's own.
say() { [ -z "$2" ] || echo "$1 $2"; }
value() { got=; read -r got _ 2>/dev/null <"$1" && [ -n "$got" ]; }
field() { # file, key
  got=
  while read -r key rest; do
    if [ "$key" = "$2" ]; then got=${rest%% *}; return 0; fi
  done 2>/dev/null <"$1"
  return 1
}

total=
! field /proc/meminfo MemTotal: || total=$((got * 1024))
cpu='' memory='' limit='' pids='' quota=''

# The control group speaks for the sandbox only where its first process is in the same one.
own() { # controller
  mine=
  if [ "$1" = v2 ]; then
    { mine=$(grep '^0::' /proc/self/cgroup) && [ "$mine" = "$(grep '^0::' /proc/1/cgroup)" ]; } 2>/dev/null
  else
    { mine=$(grep -E ":([^:]*,)?$1(,[^:]*)?:" /proc/self/cgroup) &&
      [ "$mine" = "$(grep -E ":([^:]*,)?$1(,[^:]*)?:" /proc/1/cgroup)" ]; } 2>/dev/null
  fi
}
v1() { # controller, file: sets got
  own "$1" || return 1
  for at in "/sys/fs/cgroup/$1${mine##*:}" "/sys/fs/cgroup/$1"; do
    # The root group counts the whole machine.
    [ -e "$at/$2" ] && { [ "${mine##*:}" != / ] || [ ! -e "$at/release_agent" ]; } && value "$at/$2" && return 0
  done
  return 1
}
if own v2 && at=/sys/fs/cgroup${mine#0::} && [ -e "$at/memory.current" ]; then
  ! field "$at/cpu.stat" usage_usec || cpu=$got
  if value "$at/memory.current"; then
    memory=$got
    # Cache that can be dropped at once is no use of memory.
    if field "$at/memory.stat" inactive_file && [ "$got" -lt "$memory" ]; then memory=$((memory - got)); fi
  fi
  ! value "$at/memory.max" || [ "$got" = max ] || limit=$got
  ! value "$at/pids.current" || pids=$got
  if read -r most period 2>/dev/null <"$at/cpu.max" && [ "$most" != max ]; then quota=$((most * 1000 / period)); fi
else
  ! v1 cpuacct cpuacct.usage || cpu=$((got / 1000))
  if v1 memory memory.usage_in_bytes; then
    memory=$got
    if field "$at/memory.stat" total_inactive_file && [ "$got" -lt "$memory" ]; then memory=$((memory - got)); fi
    ! v1 memory memory.limit_in_bytes || limit=$got
  fi
  ! v1 pids pids.current || pids=$got
  if v1 cpu cpu.cfs_quota_us && [ "$got" -gt 0 ]; then
    most=$got
    ! v1 cpu cpu.cfs_period_us || quota=$((most * 1000 / got))
  fi
fi

if [ -z "$cpu" ] || [ -z "$memory" ] || [ -z "$pids" ]; then
  ticks=0 pages=0 count=0
  add() {
    # Time of children that have ended too, waited for or not, else the counter would fall when they end.
    ticks=$((ticks + ${12} + ${13} + ${14} + ${15}))
    case $1 in Z | X) return 0 ;; esac
    count=$((count + 1))
  }
  for proc in /proc/[0-9]*; do
    [ "$proc" != "/proc/$$" ] || continue
    read -r line 2>/dev/null <"$proc/stat" || continue
    case $line in *') '*) ;; *) continue ;; esac
    # shellcheck disable=SC2086 # the fields of the line
    add ${line##*) }
    # What it shares with others (libraries, mapped files) would count many times.
    if read -r _ resident shared _ 2>/dev/null <"$proc/statm"; then pages=$((pages + resident - shared)); fi
  done
  hertz=$(getconf CLK_TCK 2>/dev/null) || hertz=100
  page=$(getconf PAGESIZE 2>/dev/null) || page=4096
  [ -n "$cpu" ] || cpu=$((ticks * 1000000 / hertz))
  [ -n "$memory" ] || memory=$((pages * page))
  [ -n "$pids" ] || pids=$count
fi
if [ -z "$quota" ]; then
  if got=$(nproc 2>/dev/null); then quota=$((got * 1000)); fi
fi
# Without a limit of its own the machine's memory is the limit.
if [ -n "$total" ] && { [ -z "$limit" ] || [ ${#limit} -gt 18 ] || [ "$limit" -gt "$total" ]; }; then limit=$total; fi

say cpu_us "$cpu"
say cpu_limit "$quota"
say memory "$memory"
say memory_limit "$limit"
say pids "$pids"

# The file system below an overlay belongs to others too: its use says nothing of this sandbox.
while read -r _ mount type _; do
  [ "$mount" != / ] || root=$type
done 2>/dev/null </proc/mounts
case ${root:-} in
  '' | overlay | overlayfs | aufs) ;;
  *) df -kP / 2>/dev/null | { read -r _ && read -r _ _ used _ && case $used in '' | *[!0-9]*) ;; *) say disk $((used * 1024)) ;; esac; } ;;
esac

if [ "$1" = network ] && [ -e /proc/net/dev ]; then
  rx=0 tx=0 seen=
  while IFS=' :' read -r name received _ _ _ _ _ _ _ sent _; do
    case $name$received in lo[0-9]* | *'|'* | *[!A-Za-z0-9.@_-]*) continue ;; esac
    rx=$((rx + received)) tx=$((tx + sent)) seen=1
  done </proc/net/dev
  [ -z "$seen" ] || { say rx $rx; say tx $tx; }
fi
exit 0
