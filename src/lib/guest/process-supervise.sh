# Watches over one background process: runs it, samples how its log grows, records how it ended. It is never
# between the command and its log. Kept as a file in the process's folder, and run in two roles:
#   watch    the watcher; prints `ended` on stdout when all is recorded
#   launch   becomes the command; prints `started` on descriptor 3 just before
# What to run stands in SBX_SUPERVISE_*.
dir=${0%/*}
epoch=$SBX_SUPERVISE_EPOCH cwd=$SBX_SUPERVISE_CWD workdir=$SBX_SUPERVISE_WORKDIR

if [ "$1" = launch ]; then
  umask "$SBX_SUPERVISE_MASK"
  number=0 words=''
  while [ $number -lt "$SBX_SUPERVISE_ARGC" ]; do
    number=$((number + 1))
    words="$words \"\$SBX_SUPERVISE_ARG_$number\""
  done
  eval "set -- $words"
  while [ $number -gt 0 ]; do
    unset "SBX_SUPERVISE_ARG_$number"
    number=$((number - 1))
  done
  unset SBX_SUPERVISE_EPOCH SBX_SUPERVISE_MASK SBX_SUPERVISE_CWD SBX_SUPERVISE_WORKDIR SBX_SUPERVISE_ARGC
  # Here and not where it is started: dash would print there that a signal ended it.
  exec >>"$dir/log" 2>&1
  export SBX_PROCESS_ID="${dir##*/}"
  record() { # number of arguments of the command, fields 3… of /proc/PID/stat
    echo "$$ ${21:-0} $epoch $1" >"$dir/started"
  }
  line=
  read -r line 2>/dev/null <"/proc/$$/stat"
  # shellcheck disable=SC2086 # the fields of the line
  record $# ${line##*) }

  case $workdir in '' | /*) ;; *) workdir=./$workdir ;; esac
  cd "$cwd" 2>/dev/null || [ "${workdir#/}" != "$workdir" ] || workdir=$cwd
  if ! cd -P -- "${workdir:-.}" 2>/dev/null; then
    echo "sbx: cannot enter the directory ${workdir#./}" >&2
    exit 126
  fi
  unset OLDPWD

  setsid=$(command -v setsid)
  PATH=$SBX_SUPERVISE_PATH
  [ -n "$PATH" ] || unset PATH
  unset SBX_SUPERVISE_PATH
  # Found here and not by the shell, whose built-ins are no programs.
  found='' denied=''
  case $1 in
    */*) [ ! -e "$1" ] || if [ -f "$1" ] && [ -x "$1" ]; then found=$1; else denied=$1; fi ;;
    ?*)
      ifs=$IFS
      IFS=:
      set -f
      for place in ${PATH:-/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin}; do
        [ -f "${place:-.}/$1" ] || continue
        if [ -x "${place:-.}/$1" ]; then found=$1 && break; else denied=$1; fi
      done
      set +f
      IFS=$ifs
      ;;
  esac
  if [ -z "$found" ]; then
    [ -z "$denied" ] || { echo "sbx: $1: cannot be run: not an executable file" >&2; exit 126; }
    echo "sbx: $1: not found" >&2
    exit 127
  fi
  echo started >&3
  if [ -n "$setsid" ]; then exec "$setsid" -- "$@" 3>&-; else exec "$@" 3>&-; fi
fi

cd /
[ ! -p "$dir/alive" ] || exec 5<>"$dir/alive"

if stat -c '%Y %s' "$dir/log" >/dev/null 2>&1; then
  measure() { stat -c '%Y %s' "$dir/log"; }
else
  measure() { echo "$(date +%s) $(($(wc -c <"$dir/log")))"; }
fi

# Two index lines become one in the older three quarters.
thin() {
  count=0
  while read -r line; do
    count=$((count + 1))
    if [ $count -gt 3072 ] || [ $((count % 2)) = 1 ]; then echo "$line"; fi
  done <"$dir/index" >"$dir/index.new"
  mv -f "$dir/index.new" "$dir/index"
  lines=2560
}

size=0 lines=1 grew=1
sample() {
  grew=
  now=$(measure) || return 0
  [ "${now#* }" != "$size" ] || return 0
  # A log that shrank was truncated: what is known of the old bytes is void.
  if [ "${now#* }" -lt "$size" ]; then echo "$now" >"$dir/index"; lines=1; else echo "$now" >>"$dir/index"; fi
  size=${now#* } grew=1
  lines=$((lines + 1))
  [ $lines -lt 4096 ] || thin
}

# `-nt` costs no process. It may compare whole seconds, so one more look follows each growth.
(
  # shellcheck disable=SC3013 # dash and busybox have -nt
  while sleep 1; do
    if [ -n "$grew" ] || [ "$dir/log" -nt "$dir/index" ]; then sample; fi
  done
) >/dev/null 5>&- &
sampler=$!

# How often a process was killed for want of memory into $kills, where the kernel tells.
count_kills() {
  kills=
  for file in /sys/fs/cgroup/memory.events /sys/fs/cgroup/memory/memory.oom_control; do
    [ -r "$file" ] || continue
    while read -r key count; do [ "$key" != oom_kill ] || kills=$count; done <"$file"
  done
}

count_kills
before=$kills
sh "$0" launch 3>&1 5>&-
code=$?

kill "$sampler" 2>/dev/null
if [ $code = 137 ]; then
  count_kills
  [ "$kills" = "$before" ] || echo 'sbx: killed: the sandbox ran out of memory' >>"$dir/log"
fi
measure >>"$dir/index"
echo "$code $(date +%s)" >"$dir/exit.new" && mv -f "$dir/exit.new" "$dir/exit"
echo ended
