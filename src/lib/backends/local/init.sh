# Process 1 while it still has all capabilities: only programs of this machine run here. $1 is the new root.
set -eu
proc=$1/proc
mount -t proc -o nosuid,nodev,noexec proc "$proc"
for name in bus fs irq sys sysrq-trigger; do
  [ -e "$proc/$name" ] || continue
  mount --bind "$proc/$name" "$proc/$name"
  mount -o remount,bind,ro,nosuid,nodev,noexec "$proc/$name"
done
for name in acpi asound kcore keys latency_stats scsi sched_debug timer_list timer_stats; do
  if [ -d "$proc/$name" ]; then
    mount -t tmpfs -o ro,size=4k,mode=555 none "$proc/$name"
  elif [ -e "$proc/$name" ]; then
    mount --bind /dev/null "$proc/$name"
  fi
done
# The privileges go before anything of the sandbox can be in reach; the words come from join.ts.
# shellcheck disable=SC2086
exec env -i PATH="$PATH" SBX_IDLE="$SBX_IDLE" setpriv $SBX_DROP -- /bin/sh -c 'eval "$SBX_IDLE"' sbx-init
