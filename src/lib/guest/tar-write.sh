# $1 existing directory, $2 name of a new folder in it, $3 `self` or `keep`: whose the files become. Unpacks the tar on
# standard input into the folder; tar-commit.sh puts it in place.
dir=$1 stage=$1/$2 owner=$3
command -v tar >/dev/null 2>&1 || exit 40
[ -e "$dir" ] || missing "$dir"
[ -d "$dir" ] || exit 43
[ -x "$dir" ] || exit 44
if ! mkdir -m 700 "$stage" 2>/dev/null; then
  unwritten "$dir"
  mkdir -m 700 "$stage"
  exit 1
fi
set -- -xpf - -C "$stage"
if [ "$owner" = self ]; then
  set -- -o "$@"
else
  set -- --numeric-owner "$@"
fi
# Where tar leaves modes to the umask. Nobody else gets into the folder.
umask 0
tar "$@"
status=$?
cat >/dev/null
if [ "$status" != 0 ]; then
  chmod u+rwx "$stage"
  unwritten "$stage"
  exit 1
fi
