# Gives the session $1 the name $2. Exit: 0 done, 10 no such session, 11 the new name is taken, 1 anything else.
name=$1 to=$2
find_session "$name" || exit 10
[ "$name" != "$to" ] || exit 0
# shellcheck disable=SC2154 # from session-common.sh
all=${dir%/*}
lock "$all"
if [ -e "$all/$to" ] || [ -L "$all/$to" ]; then
  if [ ! -O "$all/$to" ] || runs "$all/$to"; then exit 11; fi
  rm -rf "${all:?}/$to" || exit 1
fi
mv "$dir" "$all/$to"
