# $1 directory, $2 name of the folder in it that tar-write.sh filled, $3 `commit` or `discard`. Committing moves all
# that the folder holds into the directory; directories merge, and a conflict is found before anything moves.
dir=$1 stage=$1/$2

discard() {
  [ -d "$stage" ] || return 0
  rm -rf "$stage" 2>/dev/null && return 0
  # Folders that may not be written hold what they have.
  chmod -R u+rwX "$stage"
  rm -rf "$stage"
}

if [ "$3" = discard ]; then
  discard
  exit
fi

real_dir() {
  [ -d "$1" ] && [ ! -L "$1" ]
}

# $1 from, $2 to. The loop variables are free again once a call for a folder below returns.
check() {
  for entry in "$1"/* "$1"/.[!.]* "$1"/..?*; do
    [ -e "$entry" ] || [ -L "$entry" ] || continue
    there=$2/${entry##*/}
    [ -e "$there" ] || [ -L "$there" ] || continue
    if real_dir "$entry"; then
      if real_dir "$there"; then
        chmod u+rwx "$entry" || exit 1
        check "$entry" "$there"
        continue
      fi
    elif ! real_dir "$there"; then
      continue
    fi
    printf '%s' "$there" >&2
    discard
    exit 47
  done
}

# Moves what $1 holds to $2; $1 is gone at the end, which shows that all was moved.
merge() {
  for entry in "$1"/* "$1"/.[!.]* "$1"/..?*; do
    real_dir "$entry" || continue
    there=$2/${entry##*/}
    if real_dir "$there"; then
      merge "$entry" "$there" || return
    elif [ ! -w "$entry" ]; then
      # A folder can be moved only by who may write it.
      mode=$(stat -c %a "$entry") || return
      chmod u+w "$entry" || return
      mv -f "$entry" "$2"/ || return
      chmod "$mode" "$there" || return
    fi
  done
  find "$1" -mindepth 1 -maxdepth 1 -exec sh -c 'to=$1; shift; mv -f "$@" "$to"/' sh "$2" {} + || return
  rmdir "$1"
}

chmod u+rwx "$stage" || exit 1
check "$stage" "$dir"
if ! merge "$stage" "$dir"; then
  discard
  unwritten "$dir"
  exit 1
fi
