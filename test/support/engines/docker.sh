#!/usr/bin/env bash
# A Docker engine of its own for tests, with images made from Debian's packages. Nothing of this machine's own Docker
# is used or touched, and nothing stays but the images' files in --cache (default: WORK/images).
#
#   docker.sh [--images NAME,…] [--cache FOLDER] [--runtime NAME] [--size SIZE] [--tls FOLDER] WORK [COMMAND…]
#
# --size: all that it keeps has to fit in so much memory, such as 48m. --tls: it also listens on a TCP port of 127.0.0.1 for
# whoever has a certificate by ca.pem of FOLDER, with server/cert.pem and server/key.pem; its log names the port.
#
# With COMMAND: runs it with SBX_TEST_DOCKER set to the engine's address, and ends with its exit code. Without: says
# `ready`, then obeys the lines of stdin (`stop`, `kill`, `start`: the daemon) and answers each `done …`, until stdin ends.
# What a killed one leaves behind is removed by the next start in the same WORK.
set -euo pipefail
# shellcheck disable=SC2034 # for engine.sh
kind=docker private=(/run/containerd)
here=$(dirname "${BASH_SOURCE[0]}")
# shellcheck source=test/support/engines/engine.sh
. "$here/engine.sh"

settings() {
  local runtimes=''
  if command -v runsc >/dev/null; then
    # Its own network stack refuses new kernels; --network=host is that of the container.
    runtimes='"runsc": {"path": "'$(command -v runsc)'", "runtimeArgs": ["--platform=ptrace", "--network=host"]}'
  fi
  printf '{"runtimes": {%s}, "default-runtime": "%s", "shutdown-timeout": 2}\n' "$runtimes" "$runtime" >"$run/daemon.json"
}

# Rules of its own are off: two engines would undo each other's.
start() {
  mkdir -p "$run/exec"
  # Of a killed one. Process 1 may take its time to forget the dead, and dockerd takes those for the living.
  rm -f "$run/pid" "$run/exec/containerd/containerd.pid"
  settings
  if [ ! -e "$run/subnet" ] && ! network_up; then
    say 'this kernel gives no bridge: containers have no network but none and host'
    network_down
    network=(--bridge=none)
  elif [ -e "$run/subnet" ]; then
    subnet=$(<"$run/subnet")
    network=(--bridge="$tag" --default-address-pool "base=$subnet.128.0/17,size=24" --ip-forward=false)
  fi
  # When it is asked what it does, containerd writes the answer among the temporary files.
  local hosts=(--host "unix://$run/sock")
  [ -z "$tls" ] || hosts+=(--host tcp://127.0.0.1:0 --tlsverify --tlscacert "$tls/ca.pem" --tlscert "$tls/server/cert.pem" --tlskey "$tls/server/key.pem")
  TMPDIR=$run dockerd --config-file "$run/daemon.json" --data-root "$run/data" --exec-root "$run/exec" --pidfile "$run/pid" \
    "${hosts[@]}" --cgroup-parent "/$tag" --iptables=false --ip6tables=false "${network[@]}" \
    </dev/null >>"$run/log" 2>&1 9>&- &
  daemon=$!
  # Or bash tells everybody how it ended.
  disown
  await "$run/log"
  about=$(docker_ version --format 'dockerd {{.Server.Version}}, API {{.Server.APIVersion}}')
  # shellcheck disable=SC2016 # docker's own variables
  about+=$(docker_ info --format ', {{.Driver}}, {{.DefaultRuntime}} of{{range $name, $_ := .Runtimes}} {{$name}}{{end}}')
}

clean() {
  kill_matching "--exec-root $run/exec"
  kill_matching "$run/exec/containerd"
  kill_cgroup "$tag"
}

main "$@"
