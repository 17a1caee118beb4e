# Prints what listens on TCP: `listen ADDRESS:PORT INODE` as the kernel writes it (hexadecimal), then for each socket
# whose owner can be seen `owner INODE PID NAME`. Exit 3: the tables cannot be read.
inodes=' '
seen=
for table in /proc/net/tcp /proc/net/tcp6; do
  [ -r "$table" ] || continue
  seen=1
  while read -r _ local _ state _ _ _ _ _ inode _; do
    [ "$state" = 0A ] || continue
    printf 'listen %s %s\n' "$local" "$inode"
    inodes="$inodes$inode "
  done <"$table"
done
[ -n "$seen" ] || exit 3
[ "$inodes" != ' ' ] || exit 0

# busybox's find prints no link targets, and coreutils' ls does not work in gVisor of 2022. The names here are numbers.
# shellcheck disable=SC2012
open_files() {
  if ls -d / >/dev/null 2>&1; then
    LC_ALL=C ls -ln /proc/[0-9]*/fd
  else
    find /proc/[0-9]*/fd -type d -printf '%p:\n' -o -printf '%p -> %l\n'
  fi 2>/dev/null
}
open_files | while read -r line; do
  case $line in
    /proc/*/fd:)
      pid=${line#/proc/}
      pid=${pid%/fd:}
      name=
      ;;
    *' -> socket:['*)
      inode=${line##*' -> socket:['}
      inode=${inode%]}
      case $inodes in
        *" $inode "*)
          [ -n "$name" ] || read -r name 2>/dev/null <"/proc/$pid/comm" || name=
          # What Node calls its main thread, and with it every process that Node runs.
          if [ "$name" = MainThread ]; then
            program=$(readlink "/proc/$pid/exe" 2>/dev/null) && name=${program##*/}
          fi
          printf 'owner %s %s %s\n' "$inode" "$pid" "$name"
          ;;
      esac
      ;;
  esac
done
exit 0
