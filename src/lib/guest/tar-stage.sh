# $1 existing directory, $2 name of a new folder in it: makes the folder, which only its owner may look into.
dir=$1 stage=$1/$2
# When the client is gone there is still the folder to remove; tar itself may be ended.
trap : TERM
trap '' PIPE
[ -e "$dir" ] || missing "$dir"
[ -d "$dir" ] || exit 43
[ -x "$dir" ] || exit 44
if ! mkdir -m 700 "$stage" 2>/dev/null; then
  unwritten "$dir"
  mkdir -m 700 "$stage"
  exit 1
fi
