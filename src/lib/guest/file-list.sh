# $1 path, $2 `one`: the path itself; `all`: the entries of that directory. Prints `ok`, a newline, then records.
path=$1
[ -e "$path" ] || [ -L "$path" ] || missing "$path"
if [ "$2" = one ]; then
  printf 'ok\n'
  records "$path"
  exit 0
fi
[ -d "$path" ] || exit 43
[ -r "$path" ] && [ -x "$path" ] || exit 44
printf 'ok\n'

# In batches: a directory may have more entries than a command line may have arguments.
set --
for entry in "$path"/* "$path"/.[!.]* "$path"/..?*; do
  [ -e "$entry" ] || [ -L "$entry" ] || continue
  set -- "$@" "$entry"
  if [ "$#" = 100 ]; then
    records "$@"
    set --
  fi
done
[ "$#" = 0 ] || records "$@"
