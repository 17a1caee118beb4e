# A function that programs begin with.

# One at a time makes and renames in folder $1, until this shell ends: each sees what the others made.
lock() {
  # Made in a shell of its own: where it is another user's, the failure would end this one.
  [ -e "$1/.lock" ] || (: >>"$1/.lock") 2>/dev/null
  if command -v flock >/dev/null 2>&1 && [ -f "$1/.lock" ] && [ -r "$1/.lock" ]; then
    exec 9<"$1/.lock"
    if flock 9 2>/dev/null; then return; fi
  fi
  locked=$1/.lock.d
  tries=0
  # Whoever holds it this long has died.
  until mkdir "$locked" 2>/dev/null || [ $tries -ge 100 ]; do
    tries=$((tries + 1))
    sleep 0.1 2>/dev/null || sleep 1
  done
  trap 'rmdir "$locked" 2>/dev/null' EXIT
}
