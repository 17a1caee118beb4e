# $1 path, $2 name of a new file beside it, $3 1: make missing folders. Standard input goes to the new file; it becomes
# the file at path with file-commit.sh. What a symlink leads to is written, not the link.
resolve_link() {
  if [ -L "$1" ]; then resolve "$1"; else path=$1; fi
}

resolve_link "$1"
[ -d "$path" ] && exit 42
if [ -e "$path" ] && [ ! -f "$path" ]; then exit 48; fi
case $path in
  */*) parent=${path%/*} parent=${parent:-/} ;;
  *) parent=. ;;
esac
if [ ! -e "$parent" ]; then
  [ "$3" = 1 ] || missing "$parent"
  if ! mkdir -p "$parent" 2>/dev/null; then
    up=$parent
    while [ ! -e "$up" ]; do up=$(dirname "$up"); done
    [ -d "$up" ] || exit 43
    unwritten "$up"
    mkdir -p "$parent"
    exit 1
  fi
fi
[ -d "$parent" ] || exit 43
if ! (: >"$parent/$2") 2>/dev/null; then
  unwritten "$parent"
  exit 1
fi
if ! cat >"$parent/$2"; then
  # The space it took is still taken when the reason is tested.
  unwritten "$parent"
  exit 1
fi
