# $1 path, $2 1: missing folders above too, and one that is there is no error, $3 octal mode or empty.
path=$1 parents=$2 mode=$3
if [ -e "$path" ] || [ -L "$path" ]; then
  [ -d "$path" ] || exit 46
  [ "$parents" = 1 ] || exit 46
  exit 0
fi
case $path in
  */*) parent=${path%/*} parent=${parent:-/} ;;
  *) parent=. ;;
esac
if [ "$parents" = 1 ]; then
  mkdir -p "$path" 2>/dev/null
else
  [ -e "$parent" ] || missing "$parent"
  [ -d "$parent" ] || exit 43
  mkdir "$path" 2>/dev/null
fi
if [ ! -d "$path" ]; then
  while [ ! -e "$parent" ]; do parent=$(dirname "$parent"); done
  [ -d "$parent" ] || exit 43
  unwritten "$parent"
  mkdir "$path"
  exit 1
fi
if [ -n "$mode" ]; then chmod "$mode" "$path"; fi
