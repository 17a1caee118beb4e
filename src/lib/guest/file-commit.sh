# $1 path, $2 name of the file beside it that file-write.sh filled, $3 `commit` or `discard`, $4 octal mode, or empty:
# that of the file that is there, else what the umask leaves.
if [ -L "$1" ]; then resolve "$1"; else path=$1; fi
case $path in
  */*) parent=${path%/*} parent=${parent:-/} ;;
  *) parent=. ;;
esac
new=$parent/$2
if [ "$3" = discard ]; then
  rm -f "$new"
  exit
fi
mode=$4
if [ -z "$mode" ] && [ -f "$path" ]; then mode=$(stat -c %a "$path" 2>/dev/null || find "$path" -prune -printf %m); fi
if [ -n "$mode" ]; then
  chmod "$mode" "$new" || { rm -f "$new"; exit 1; }
fi
if [ -d "$path" ]; then
  rm -f "$new"
  exit 42
fi
if ! mv -f "$new" "$path"; then
  rm -f "$new"
  unwritten "$parent"
  exit 1
fi
