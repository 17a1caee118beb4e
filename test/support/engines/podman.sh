#!/usr/bin/env bash
# Podman's service as an engine of its own for tests, like docker.sh, which see: same arguments but --tls, same images. Of one
# that was killed with -9, podman's rules of networks may stay. Ends with 77, and says why, where podman starts no container.
set -euo pipefail
# shellcheck disable=SC2034 # for engine.sh
kind=podman private=(/run/runc /run/netns /run/cni /var/lib/cni /run/libpod /var/lib/containers)
here=$(dirname "${BASH_SOURCE[0]}")
# shellcheck source=test/support/engines/engine.sh
. "$here/engine.sh"

# Hard limits below those that podman takes for granted; locks elsewhere than in the /dev/shm that all podmans share.
settings() {
  cat >"$run/containers.conf" <<END
[containers]
default_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]
[engine]
cgroup_manager = "cgroupfs"
events_logger = "file"
lock_type = "file"
[network]
network_backend = "cni"
network_config_dir = "$run/networks"
default_subnet = "$subnet.0.0/24"
default_subnet_pools = [{"base" = "$subnet.128.0/17", "size" = 24}]
END
  mkdir -p "$run/networks"
  cat >"$run/networks/87-podman.conflist" <<END
{"cniVersion": "0.4.0", "name": "podman", "plugins": [
  {"type": "bridge", "bridge": "$tag", "isGateway": true, "hairpinMode": true,
   "ipam": {"type": "host-local", "routes": [{"dst": "0.0.0.0/0"}], "ranges": [[{"subnet": "$subnet.0.0/24", "gateway": "$subnet.0.1"}]]}},
  {"type": "portmap", "capabilities": {"portMappings": true}}, {"type": "tuning"}]}
END
}

start() {
  if [ ! -e "$run/subnet" ] && ! network_up; then say 'this kernel gives no bridge: containers have no network but none and host'; fi
  settings
  # It leaves imported images among the temporary files, and where it was started a file for a command that ran out of memory.
  env --chdir "$run" TMPDIR="$run" CONTAINERS_CONF="$run/containers.conf" \
    podman --root "$run/data" --runroot "$run/run" --tmpdir "$run/tmp" --runtime "$(command -v "$runtime")" \
    system service --time=0 "unix://$run/sock" </dev/null >>"$run/log" 2>&1 9>&- &
  daemon=$!
  # Or bash tells everybody how it ended.
  disown
  await "$run/log" || unable 'its service does not come up'
  about=$(docker_ version --format 'podman {{.Server.Version}}, API {{.Server.APIVersion}}')
}

probe() {
  local answer
  answer=$(docker_ run --rm "$1" sh -c 'echo works' 2>&1) || unable "a container does not start: $answer"
}

clean() {
  local container
  kill_matching "$run/"
  for container in "$run"/data/*-containers/*/userdata; do
    container=$(basename "$(dirname "$container")")
    kill_cgroup "libpod_parent/libpod-$container"
  done
  kill_cgroup libpod_parent/conmon
  find /sys/fs/cgroup -maxdepth 2 -name libpod_parent -exec rmdir {} + 2>/dev/null || true
}

main "$@"
