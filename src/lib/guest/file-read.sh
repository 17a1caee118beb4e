# $1 path. Prints `ok`, a newline, and the bytes of the file.
path=$1
[ -e "$path" ] || missing "$path"
[ -d "$path" ] && exit 42
[ -r "$path" ] || exit 44
printf 'ok\n'
exec cat "$path"
