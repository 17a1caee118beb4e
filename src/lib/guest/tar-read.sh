# $1 path, $2 1: only its contents, $3 1: follow the symlink that it is, $4… names to leave out where tar can.
# Prints `ok`, a newline, and the tar.
path=$1 contents=$2 follow=$3
shift 3
command -v tar >/dev/null 2>&1 || exit 40
[ -e "$path" ] || [ -L "$path" ] || missing "$path"
if [ "$follow" = 1 ] && [ -L "$path" ]; then
  [ -e "$path" ] || exit 41
  resolve "$path"
fi
# What this user may have set for GNU tar.
unset TAR_OPTIONS
gnu=
case $(tar --version 2>/dev/null) in
  *'GNU tar'*) gnu=1 ;;
esac
if [ "$contents" = 1 ]; then
  [ -d "$path" ] || exit 43
  cd "$path" 2>/dev/null || exit 44
  member=.
else
  case $path in
    */*) parent=${path%/*} member=./${path##*/} ;;
    *) parent=. member=./$path ;;
  esac
  if [ ! -L "$path" ] && [ ! -r "$path" ]; then exit 44; fi
  cd "${parent:-/}" 2>/dev/null || exit 44
fi
if [ -n "$gnu" ]; then
  for name; do
    shift
    set -- "$@" "--exclude=$name"
  done
  # A pipe takes 64 KiB at once.
  set -- --blocking-factor=64 --format=posix --pax-option=delete=atime,delete=ctime --no-unquote "$@"
else
  set --
fi
printf 'ok\n'
exec tar -cf - "$@" "$member"
