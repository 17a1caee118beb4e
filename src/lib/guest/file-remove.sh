# $1 path, $2 1: a directory with all that it holds, $3 1: a missing one is no error.
path=$1
if [ ! -e "$path" ] && [ ! -L "$path" ]; then
  [ "$3" = 1 ] && exit 0
  missing "$path"
fi
case $path in
  */*) parent=${path%/*} parent=${parent:-/} ;;
  *) parent=. ;;
esac
if [ -d "$path" ] && [ ! -L "$path" ]; then
  [ "$2" = 1 ] || exit 42
  rm -rf "$path" && exit 0
else
  rm -f "$path" && exit 0
fi
[ -w "$parent" ] || exit 44
exit 1
