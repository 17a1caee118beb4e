# Mounts parts of a running sandbox anew, over the old mounts. $1 the hidden folder, $2 the sandbox's folder below the
# state folder, $3 the place of its guest folder inside; then pairs: where, and the options of the overlay mount.
set -eu
hidden=$1
guest=$2/guest
identity=$2/identity
place=$3
shift 3
umount --no-canonicalize "$hidden"
trap 'cd /; mount --no-canonicalize -t tmpfs -o ro,mode=000,size=4k cover "$hidden"' EXIT
cd "$hidden/state/layers"
while [ "$#" -gt 0 ]; do
  mount --no-canonicalize -t overlay -o "$2" overlay "$1"
  # What lies on a mount of its own in these parts would be out of sight. A link in its place leads nowhere good.
  case $1 in
    */root/etc)
      for name in hosts hostname resolv.conf; do
        [ -L "$1/$name" ] || mount --no-canonicalize --bind -o nosuid,nodev "$hidden/state/$identity/$name" "$1/$name"
      done
      ;;
    */root/var) [ -L "$1/lib" ] || [ -L "$1/lib/sbx" ] || mount --no-canonicalize --bind -o nosuid,nodev "$hidden/state/$guest" "${1%/var}$place" ;;
  esac
  shift 2
done
