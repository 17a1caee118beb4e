# Puts other contents into a folder, whole or not at all. $1 the folder, $2 name of a folder in it for what is on its
# way, $3 what to do:
#   stage    makes the folder `new` in there, to be filled
#   commit   moves what is in the folder to `old`, then what is in `new` to its place, and removes the rest
#   discard  removes what is on its way
# A commit that was cut off is gone on with by another one: `old` is renamed to `gone` between the two moves. When the
# first move fails, all goes back. Exit: 0, also where there is nothing to do; 1 with the reason on standard error.
dir=$1 stage=$1/$2

if [ "$3" = stage ]; then
  mkdir -p "$dir" && mkdir -m 700 "$stage" && mkdir "$stage/new"
  exit
fi

drop() {
  rm -rf "$stage" 2>/dev/null && return
  # Folders that may not be written hold what they have.
  chmod -R u+rwX "$stage" && rm -rf "$stage"
}
[ -d "$stage" ] || exit 0
if [ "$3" = discard ]; then
  drop
  exit
fi

# One that a former client began may still be at it, since it outlives its client. Whoever comes second finds nothing.
lock "$stage"
[ -d "$stage" ] || exit 0

# $1 an entry, $2 the folder it goes to.
move() {
  if [ -L "$1" ] || [ ! -d "$1" ] || [ -w "$1" ]; then
    mv -f "$1" "$2/"
    return
  fi
  # A folder can be moved only by who may write it.
  mode=$(stat -c %a "$1") && chmod u+w "$1" || return
  if mv -f "$1" "$2/"; then
    chmod "$mode" "$2/${1##*/}"
  else
    chmod "$mode" "$1"
    return 1
  fi
}

# All that $1 holds, but what is on its way, to $2.
move_all() {
  for entry in "$1"/* "$1"/.[!.]* "$1"/..?*; do
    [ "$entry" != "$stage" ] || continue
    [ -e "$entry" ] || [ -L "$entry" ] || continue
    move "$entry" "$2" || return
  done
}

if [ ! -d "$stage/gone" ]; then
  mkdir -p "$stage/old" || exit
  if ! move_all "$dir" "$stage/old"; then
    move_all "$stage/old" "$dir" && drop
    exit 1
  fi
  mv "$stage/old" "$stage/gone" || exit
fi
move_all "$stage/new" "$dir" && drop
