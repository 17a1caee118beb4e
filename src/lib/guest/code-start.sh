# After code-common.sh: starts the interpreter of a context. $1 id, $2 `python` or `javascript`, $3 text of code-keep.sh,
# $4 text of what keeps the interpreter, $5 `once` for one that ends with us.
# Exit: 10 no such interpreter, 11 it ended at once (standard error says why), 12 no folder to write to.
id=$1 language=$2 keep=$3 program=$4 reach=${5-}
case $language in
  python) name=python3 suffix=py ;;
  *) name=node suffix=cjs ;;
esac
interpreter=$(command -v "$name") || exit 10

# shellcheck disable=SC2154 # of code-common.sh
mkdir -m 700 "$base" 2>/dev/null
# shellcheck disable=SC3067 # dash and busybox have -O
if [ ! -d "$base" ] || [ -L "$base" ] || [ ! -O "$base" ]; then
  echo "$base cannot be used" >&2
  exit 12
fi
# Those whose interpreter was killed with all around it.
for old in "$base"/*/; do
  if read -r pid 2>/dev/null <"$old/pid" && [ ! -d "/proc/$pid" ]; then rm -rf "$old"; fi
done

dir=$base/$id
{ mkdir -m 700 "$base/.$id" && echo $$ >"$base/.$id/pid" && mv "$base/.$id" "$dir" &&
  printf '%s\n' "$program" >"$dir/program.$suffix" && mkfifo "$dir/in" "$dir/out"; } || exit 12

# Whoever ends this exec by its mark must not end what is to stay.
[ "$reach" = once ] || unset SBX_EXEC_ID
export SBX_CODE_ID="$id"
exec 5<>"$dir/out"
launch() {
  if command -v setsid >/dev/null 2>&1; then
    # The outer one leads a session, so the inner one has to fork: detached without `&`, which would have the
    # interpreter ignore INT.
    setsid setsid sh -c "$keep" sbx-code "$dir" "$interpreter" "$dir/program.$suffix"
  else
    sh -c "$keep" sbx-code "$dir" "$interpreter" "$dir/program.$suffix" &
  fi
}
launch </dev/null >/dev/null 2>&1 5>&-
read -r word <&5
if [ "$word" != ready ]; then
  tail -n 5 "$dir/stderr" >&2
  stop "$id"
  exit 11
fi
