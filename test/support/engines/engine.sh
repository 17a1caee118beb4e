# What the scripts of all engines share. Each sets `kind` and `private`
# (folders of the whole machine that its engine would write to), and defines `start`, which sets `daemon` and `about`, and `clean`, which ends whatever still runs.
# shellcheck shell=bash disable=SC2154,SC2034

say() { printf '%s: %s\n' "$kind" "$*" >&2; }

# unable WHY: this machine cannot run the engine. 77 says so to whoever started us, and is no failure.
unable() {
  say "does not run on this machine: $*"
  exit 77
}

usage() {
  echo "usage: $kind.sh [--images NAME,…] [--cache FOLDER] [--runtime NAME] [--size SIZE] [--tls FOLDER] WORK [COMMAND…]" >&2
  exit 2
}

# Sets work, run, cache, images, runtime, size, tls, tag, command.
options() {
  images=busybox,noshell,debian,debian-dtach cache='' runtime=runc size='' tls=''
  while [[ ${1-} == --* ]]; do
    case $1 in
      --images) images=$2 ;;
      --cache) cache=$2 ;;
      --runtime) runtime=$2 ;;
      --size) size=$2 ;;
      --tls) tls=$2 ;;
      *) usage ;;
    esac
    shift 2
  done
  [ $# -gt 0 ] || usage
  work=$(mkdir -p "$1" && realpath "$1")
  cache=${cache:-$work/images}
  run=$work/$kind
  # Of bridges and cgroups: known again by the next start in this folder.
  tag=sbx$(cksum <<<"$run" | cut -d ' ' -f 1)
  shift
  command=("$@")
}

# Only one at a time per folder. Whoever holds the lock and is gone left things behind.
take() {
  exec 9>"$work/.$kind.lock"
  if ! flock --nonblock 9; then
    say "another one runs in $work"
    exit 1
  fi
  clean_all
  mkdir -p "$run/data"
  [ -z "$size" ] || mount -t tmpfs -o "size=$size" none "$run/data"
}

# kill_matching TEXT: those that have it among their arguments. Process 1 may take its time to forget the dead.
kill_matching() {
  while pkill -KILL --full --runstates D,I,R,S,T -- "$1"; do sleep 0.05; done
}

# kill_cgroup NAME: everything in it, frozen or not, and itself, in all hierarchies.
kill_cgroup() {
  local tops=() top pid file
  for top in /sys/fs/cgroup/"$1" /sys/fs/cgroup/*/"$1"; do
    [ ! -d "$top" ] || tops+=("$top")
  done
  [ ${#tops[@]} -gt 0 ] || return 0
  while [ -n "$(find "${tops[@]}" -maxdepth 0)" ]; do
    find "${tops[@]}" -name cgroup.procs -exec cat {} + | while read -r pid; do kill -KILL "$pid" || true; done
    find "${tops[@]}" -name freezer.state | while read -r file; do echo THAWED >"$file"; done
    find "${tops[@]}" -depth -type d -exec rmdir {} + || sleep 0.05
  done
} 2>/dev/null

# A subnet that nothing here uses.
free_subnet() {
  local at
  at=$(($(cksum <<<"$run" | cut -d ' ' -f 1) % 50))
  while ip -4 -o addr | grep -q " 10\.$((200 + at))\."; do at=$(((at + 1) % 50)); done
  echo "10.$((200 + at))"
}

# The rules that `network_up` adds; none of the machine's own are touched.
rules() {
  local action=$1
  iptables -w -t nat "$action" POSTROUTING -s "$subnet.0.0/16" ! -d "$subnet.0.0/16" -j MASQUERADE -m comment --comment "$tag" &&
    iptables -w "$action" FORWARD -s "$subnet.0.0/16" -j ACCEPT -m comment --comment "$tag" &&
    iptables -w "$action" FORWARD -d "$subnet.0.0/16" -j ACCEPT -m comment --comment "$tag"
} 2>/dev/null

# A bridge of its own, with a way out for all of the engine's networks. Fails where the kernel has no such thing.
network_up() {
  subnet=$(free_subnet)
  echo "$subnet" >"$run/subnet"
  ip link add "$tag" type bridge && ip addr add "$subnet.0.1/24" dev "$tag" && ip link set "$tag" up && rules -A || return
  if [ "$(</proc/sys/net/ipv4/ip_forward)" = 0 ]; then
    touch "$run/forward"
    echo 1 >/proc/sys/net/ipv4/ip_forward
  fi
}

network_down() {
  local link port
  [ -e "$run/subnet" ] || return 0
  subnet=$(<"$run/subnet")
  for link in $(ip -4 -o addr | awk -v "start=$subnet." 'index($4, start) == 1 {print $2}') "$tag"; do
    [ -e "/sys/class/net/$link/brif" ] || continue
    for port in "/sys/class/net/$link/brif/"*; do
      [ ! -e "$port" ] || ip link del "$(basename "$port")" || true
    done
    ip link del "$link"
  done
  while rules -D; do :; done
  [ ! -e "$run/forward" ] || echo 0 >/proc/sys/net/ipv4/ip_forward
}

# ping: whether the engine answers.
ping() { [ "$(curl -s --max-time 5 --unix-socket "$run/sock" http://engine/_ping)" = OK ]; }

# await LOG: until the engine answers, which nobody tells but itself.
await() {
  local end=$((SECONDS + 60))
  until ping; do
    if ! kill -0 "$daemon" 2>/dev/null || [ "$SECONDS" -gt "$end" ]; then
      say 'does not come up:'
      tail -20 "$1" >&2
      return 1
    fi
    sleep 0.05
  done
}

docker_() { env -u DOCKER_CONTEXT -u DOCKER_TLS_VERIFY docker --host "unix://$run/sock" "$@"; }

# stop SIGNAL
stop() {
  [ -n "${daemon-}" ] || return 0
  kill -s "$1" "$daemon" 2>/dev/null || true
  tail --pid "$daemon" -s 0.05 -f /dev/null
  daemon=
}

# load NAME
load() {
  local main='["sh"]'
  case $1 in
    noshell) main='["/bin/sleep","infinity"]' ;;
    debian*) main='["bash"]' ;;
  esac
  docker_ import --change "CMD $main" "$cache/$1.tar" "sbx-test/$1"
}

clean_all() {
  local place
  clean
  network_down
  awk -v "start=$run/" 'index($5, start) == 1 {print $5}' /proc/self/mountinfo | sort -r | while read -r place; do umount -l "$place"; done
  rm -rf --one-file-system "$run"
}

# Killed first: podman's service would wait ten seconds for each to end by itself.
remove_containers() {
  local ids
  mapfile -t ids < <(docker_ ps --quiet)
  [ ${#ids[@]} -eq 0 ] || docker_ kill "${ids[@]}" || true
  mapfile -t ids < <(docker_ ps --all --quiet)
  [ ${#ids[@]} -eq 0 ] || docker_ rm --force "${ids[@]}"
} >/dev/null 2>&1

finish() {
  local status=$?
  trap - EXIT
  trap '' INT TERM HUP
  if [ -n "${daemon-}" ]; then
    ! ping || remove_containers || true
    stop TERM || true
  fi
  clean_all
  say 'stopped, nothing left'
  exit "$status"
}

# probe IMAGE: whether the engine that has started is of use; podman.sh has more to say.
probe() { :; }

# What the lines of stdin say, until it ends.
serve() {
  local line
  echo ready
  while read -r line; do
    case $line in
      stop) stop TERM ;;
      kill) stop KILL ;;
      start) [ -n "$daemon" ] || start ;;
      *) say "no order $line" ;;
    esac
    echo "done $line"
  done
}

# own_mounts FOLDER…: starts over with mounts of its own, which end with it; the folders of the whole machine are empty there.
own_mounts() {
  if [ "$(id -u)" -ne 0 ]; then
    say 'needs root'
    exit 1
  fi
  if [ "${SBX_ENGINE_MOUNTS-}" != "$$" ]; then
    SBX_ENGINE_MOUNTS=$$ exec unshare --mount --propagation slave "$0" "${arguments[@]}"
  fi
  unset SBX_ENGINE_MOUNTS
  local folder
  for folder in "$@"; do mkdir -p "$folder" && mount -t tmpfs none "$folder"; done
}

main() {
  arguments=("$@")
  options "$@"
  own_mounts "${private[@]}"
  local name names
  IFS=, read -ra names <<<"$images"
  "$(dirname "${BASH_SOURCE[0]}")/images.sh" "$cache" "${names[@]}"
  take
  trap finish EXIT
  trap 'exit 130' INT TERM HUP
  start
  for name in "${names[@]}"; do load "$name" >/dev/null; done
  probe "sbx-test/${names[0]}"
  say "$about; unix://$run/sock; images ${names[*]/#/sbx-test/}"
  if [ ${#command[@]} -eq 0 ]; then
    serve
  else
    SBX_TEST_ENGINE=$kind SBX_TEST_DOCKER=unix://$run/sock "${command[@]}" 9>&-
  fi
}
