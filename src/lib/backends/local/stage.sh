# Makes the inside of a sandbox. Runs with this machine's root, in new user, mount, ipc and uts namespaces, with all
# capabilities in them. $1 the folder that becomes the root, $2 the tables (see mounts.ts), $3 the hostname, $4... arguments of
# init.sh behind the root; the init scripts come in the environment. Descriptor 3 is the client: it hears "stage PID", says "mapped" once our ids mean something, and
# if it vanishes we end too.
set -eu
read -r pid rest < /proc/self/stat
echo "stage $pid" >&3
read -r answer <&3
[ "$answer" = mapped ]
# A sandbox owns what it mounts over: a link that it left in such a place would lead out to this machine, where programs
# would run with all capabilities. So the file systems come in three steps, and each step looks before it mounts.
root=$1
solid() {
  path=$root
  rest=${1#"$root"/}/
  while [ -n "$rest" ]; do
    path=$path/${rest%%/*}
    rest=${rest#*/}
    if [ -L "$path" ]; then rm -f -- "$path"; fi
    if [ -z "$rest" ] && [ "$2" = file ]; then
      # Also a FIFO, which would hold us up for ever.
      [ -f "$path" ] || { rm -rf -- "$path" && : > "$path"; }
    else
      [ -e "$path" ] && [ ! -d "$path" ] && rm -f -- "$path"
      [ -d "$path" ] || mkdir "$path"
    fi
  done
}
for step in 1 2 3; do
  while read -r kind place; do
    solid "$place" "$kind"
  done < "$2.$step.places"
  mount -a -T "$2.$step"
done
hostname "$3"
shift 3
# The first child of this shell is process 1 of the new pid namespace.
exec unshare --pid -- /bin/sh -c '/bin/sh -c "$SBX_INIT" sbx-init "$@" & exit 0' sbx-fork "$root" "$@"
