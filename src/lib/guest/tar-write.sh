# After tar-stage.sh. $3 `self` or `keep`: whose the files become. Unpacks the tar on standard
# input into the folder; tar-commit.sh puts it in place.
owner=$3
# shellcheck disable=SC2154 # of tar-stage.sh
command -v tar >/dev/null 2>&1 || { rmdir "$stage"; exit 40; }
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
