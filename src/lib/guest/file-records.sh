# Prints facts of files in batches: a line with their number, a line of facts for each, then name, NUL, symlink target,
# NUL for each. Names come last and ended by NUL, so that no name can pass for facts.
facts='%f %s %i %u %g %U %G|%y'

# $1… paths, at most some hundred. Those that vanish meanwhile are left out.
records() {
  if lines=$(stat -c "$facts" "$@" 2>/dev/null); then
    printf '%s\n%s\n' "$#" "$lines"
    for each; do
      printf '%s\0' "$each"
      if [ -L "$each" ]; then readlink -n "$each"; fi
      printf '\0'
    done
  elif [ "$#" -gt 1 ]; then
    for each; do
      # A call of its own: the parameters of this one are still needed.
      one "$each"
    done
  fi
}

one() {
  if lines=$(stat -c "$facts" "$1" 2>/dev/null); then
    printf '1\n%s\n%s\0' "$lines" "$1"
    if [ -L "$1" ]; then readlink -n "$1"; fi
    printf '\0'
  fi
}
