#!/usr/bin/env bash
# images.sh FOLDER NAME…: the file systems of the images that tests use, as FOLDER/NAME.tar. Those that are there already stay.
# No registry is needed, only Debian's packages: busybox-static and, for the two of Debian, debootstrap.
#
#   busybox       a shell and the small tools of busybox: no bash, python3, dtach, script
#   noshell       nothing but four static programs: sleep, echo, cat, true
#   debian        the smallest Debian, as one gets it from anybody
#   debian-dtach  that with dtach and python3
set -euo pipefail

folder=$(mkdir -p "$1" && realpath "$1")
shift
work=
trap finish EXIT

finish() {
  [ -n "$work" ] || return 0
  tail -20 "$work/log" >&2
  rm -rf "$work"
}

# Whole or not there, whatever happens meanwhile.
pack() {
  tar -C "$work/root" --numeric-owner --exclude='./var/cache/apt/*' --exclude='./var/lib/apt/lists/*' \
    --exclude='./usr/share/doc/*' --exclude='./usr/share/locale/*' -cf "$work/tar" .
  mv "$work/tar" "$folder/$1.tar"
}

skeleton() {
  mkdir -p "$1"/{bin,dev,etc,proc,root,sys,tmp,usr}
  chmod 1777 "$1/tmp"
  printf 'root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/false\n' >"$1/etc/passwd"
  printf 'root:x:0:\nnogroup:x:65534:\n' >"$1/etc/group"
}

busybox() {
  local applet
  skeleton "$1"
  cp /bin/busybox "$1/bin"
  for applet in $(/bin/busybox --list); do
    [ "$applet" = busybox ] || ln -s busybox "$1/bin/$applet"
  done
}

# Busybox goes by the name that it is called by.
noshell() {
  skeleton "$1"
  cp /bin/busybox "$1/bin/sleep"
  for applet in echo cat true; do ln "$1/bin/sleep" "$1/bin/$applet"; done
}

# Makes both at once: packages can be added while the lists of a new Debian are still there.
debian() {
  local mirror
  # shellcheck disable=SC2016 # apt fills it in.
  mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Codename: bookworm' | head -1)
  debootstrap --variant=minbase bookworm "$1" "${mirror:-http://deb.debian.org/debian}"
  pack debian
  cp /etc/resolv.conf "$1/etc/resolv.conf"
  DEBIAN_FRONTEND=noninteractive chroot "$1" apt-get -qy install --no-install-recommends dtach python3
}

# make NAME MAKER
make() {
  work=$(mktemp -d "$folder/.make.XXXXXX")
  echo "making image $1, once, in $folder" >&2
  "$2" "$work/root" >"$work/log" 2>&1
  pack "$1"
  rm -rf "$work"
  work=
}

for name in "$@"; do
  case $name in
    busybox | noshell) maker=$name ;;
    # In this order, so that nobody finds the first without the second.
    debian | debian-dtach) name=debian-dtach maker=debian ;;
    *) echo "images.sh: no image $name" >&2 && exit 2 ;;
  esac
  # One of an older form of this script has not what tests look for.
  [ "$folder/$name.tar" -nt "$0" ] || make "$name" "$maker"
done
