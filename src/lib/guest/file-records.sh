# Prints facts of files in batches: a line with their number, a line of facts for each, then name, NUL, symlink target,
# NUL for each. Names come last and ended by NUL, so that no name can pass for facts.

# A line for each path: mode in hexadecimal, size, inode, uid, gid, user, group|time. Fails when one of them is missing.
if stat -c %f / >/dev/null 2>&1; then
  facts_of() { stat -c '%f %s %i %u %g %U %G|%y' "$@" 2>/dev/null; }
else
  # gVisor of 2022 refuses what the stat of coreutils asks for, and not what its find does.
  find / -maxdepth 0 -printf '' 2>/dev/null || exit 50
  facts_of() {
    found=$(find "$@" -maxdepth 0 -printf '%y %m %s %i %U %G %u %g|%TY-%Tm-%Td %TH:%TM:%.12TS %Tz\n' 2>/dev/null) || return
    printf '%s\n' "$found" | while read -r type mode rest; do
      case $type in d) kind=4 ;; f) kind=8 ;; l) kind=10 ;; *) kind=2 ;; esac
      printf '%x %s\n' $((kind * 4096 + 0$mode)) "$rest"
    done
  }
fi

# $1… paths, at most some hundred. Those that vanish meanwhile are left out.
records() {
  if lines=$(facts_of "$@"); then
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
  if lines=$(facts_of "$1"); then
    printf '1\n%s\n%s\0' "$lines" "$1"
    if [ -L "$1" ]; then readlink -n "$1"; fi
    printf '\0'
  fi
}
