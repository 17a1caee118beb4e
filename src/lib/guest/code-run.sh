# After code-common.sh: runs the code on standard input in the context $1; $2 is a name for this run. Prints its result.
# Exit: 13 the interpreter had ended before, 14 it ended meanwhile: its exit code is on standard error.
# shellcheck disable=SC2154 # of code-common.sh
dir=$base/$1
[ -p "$dir/out" ] || exit 13
# For both ways, so that opening waits for nobody. Before we look: who dies later is heard.
exec 4<>"$dir/in" 5<>"$dir/out" || exit 13
[ ! -e "$dir/dead" ] || exit 13
cat >"$dir/code" || exit 12
echo "$2" >&4
# What a run that nobody waited for has left is passed over.
while read -r word <&5 && [ "$word" != "$2" ]; do
  if [ "$word" = dead ]; then
    cat "$dir/dead" >&2
    exit 14
  fi
done
cat "$dir/result"
