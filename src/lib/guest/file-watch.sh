# $1 path, $2 1: everything below too, $3 seconds between looks. Prints `inotify` or `snapshots` and a newline.
# With inotifywait: EVENTS|PATH, NUL for each change. Without: at each change the records of all that is there, ended by
# a line `0`; the reader finds the differences.
path=$1 recursive=$2 pause=$3
[ -e "$path" ] || [ -L "$path" ] || missing "$path"
[ -r "$path" ] || exit 44
# Older ones cannot end a name with NUL.
case $(inotifywait --help 2>/dev/null) in
  *--no-newline*)
    set -- -m -q --no-newline --format '%e|%w%f%0' -e create,modify,attrib,delete,move,delete_self,move_self
    if [ "$recursive" = 1 ]; then set -- "$@" -r; fi
    printf 'inotify\n'
    exec inotifywait "$@" "$path"
    ;;
esac
stat -c %f / >/dev/null 2>&1 || exit 50
command -v find >/dev/null 2>&1 || exit 50
printf 'snapshots\n'
depth=
if [ "$recursive" != 1 ]; then depth=1; fi

# Short, or at worst as it is: only compared.
digest="cat"
for program in cksum md5sum; do
  if command -v "$program" >/dev/null 2>&1; then
    digest=$program
    break
  fi
done

look() {
  find "$path" ${depth:+-maxdepth 1} -exec stat -c '%f %s %i %y %n' {} + 2>/dev/null | "$digest"
}

show() {
  find "$path" ${depth:+-maxdepth 1} -exec sh -c "$SBX_RECORDS"'
    records "$@"' sh {} + 2>/dev/null
  printf '0\n'
}

before=
while :; do
  now=$(look)
  if [ "$now" != "$before" ]; then
    before=$now
    show
  fi
  sleep "$pause"
done
