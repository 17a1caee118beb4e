# After tar-stage.sh. $3 `self` or `keep`: whose the files become. Unpacks the tar on standard
# input into the folder; tar-commit.sh puts it in place. Prints `ok` before it reads anything.
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
printf 'ok\n'
# GNU tar reads as much as a pipe holds, and nothing that this user may have set.
TAR_OPTIONS=--blocking-factor=128 tar "$@"
status=$?
cat >/dev/null
if [ "$status" != 0 ]; then
  # The sender may be gone, and with it who would discard the folder.
  trap 'chmod -R u+rwX "$stage"; rm -rf "$stage"' EXIT
  chmod u+rwx "$stage"
  unwritten "$stage"
  exit 1
fi
