# Put in front of the other file programs. Exit codes: file-errors.ts.

# Ends for PATH, which is not there: not found, or a folder on the way that may not be entered.
missing() {
  up=$1
  while :; do
    case $up in
      */*) up=${up%/*} ;;
      *) up=. ;;
    esac
    if [ -d "${up:-/}" ]; then
      [ -x "${up:-/}" ] || exit 44
      exit 41
    fi
    [ "$up" = . ] && exit 41
  done
}

# After a write below directory $1 failed: ends with the reason if it is one that can be tested.
unwritten() {
  [ -w "$1" ] || exit 44
  probe=$1/.sbx-probe-$$
  if ! (: >"$probe") 2>/dev/null; then
    exit 44
  fi
  if head -c 65536 /dev/zero >"$probe" 2>/dev/null; then
    rm -f -- "$probe"
  else
    rm -f -- "$probe"
    exit 45
  fi
}

# Sets $path to what the symlink $1 leads to, or to $1 when that cannot be told.
resolve() {
  path=$(readlink -f -- "$1" && printf x)
  path=${path%?x}
  [ -n "$path" ] || path=$1
}
