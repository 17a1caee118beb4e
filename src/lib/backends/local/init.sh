# Process 1 while it still has all capabilities: only programs of this machine run here. $1 is the new root, $2 the
# folder of the tools in it; $3... this machine's shell.
set -eu
proc=$1/proc
tools=$2
root=$1
shell=$3
shift 3
# Never in a folder of this machine: whoever sees this process sees where it is.
cd "$root"
mount -t proc -o nosuid,nodev,noexec proc "$proc"
# In a user namespace of its own a sandbox would have every capability again, could mount cgroups as this machine's
# root, and take its mounts apart. Raising this needs a capability that it does not have.
echo 0 > "$proc/sys/user/max_user_namespaces"
for name in bus dynamic_debug fs irq sys sysrq-trigger; do
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
# The privileges go before anything of the sandbox can be in reach; the words come from join.ts. The shell is started
# from the read-only mount of the tools: through /proc/1/exe the sandbox could write to the one of this machine.
# shellcheck disable=SC2086
exec env -i PATH="$PATH" SBX_IDLE="$SBX_IDLE" setpriv $SBX_DROP -- "$tools$shell" "$@" -c 'eval "$SBX_IDLE"' sbx-init
