# Functions that the session programs begin with.

# The fields 3… of /proc/PID/stat into $fields.
stat_of() { # pid
  line=
  read -r line 2>/dev/null <"/proc/$1/stat" || [ -n "$line" ] || return 1
  # A name with a line break cuts the line: the rest follows.
  case $line in *') '*) ;; *) line=$(tr '\n' ' ' 2>/dev/null <"/proc/$1/stat") ;; esac
  fields=${line##*) }
}

same() { # ticks, fields
  s_ticks=$1
  shift
  [ $# -ge 20 ] || return 1
  case $1 in Z | X) return 1 ;; esac
  [ "$s_ticks" = "${20}" ]
}
# Whether the process that began at these ticks lives.
# shellcheck disable=SC2086 # fields
lives() { stat_of "$1" && same "$2" $fields; }

# Whether the session in folder $1 runs.
runs() {
  [ ! -e "$1/exit" ] && read -r r_pid r_ticks _ 2>/dev/null <"$1/master" && lives "$r_pid" "$r_ticks"
}

# Whether $1 is the folder of a session that came to life, and ours: another user could have made it up. root has all.
# shellcheck disable=SC3067 # dash and busybox have -O
is_session() {
  [ ! -L "$1" ] && [ -x "$1" ] && [ -f "$1/master" ] && { [ -O "$1" ] || [ "$(id -u)" = 0 ]; }
}

# The folder of session $1 into $dir.
find_session() {
  for base in "${SBX_GUEST_DIR:-/var/lib/sbx}" /tmp/.sbx-*; do
    dir=$base/sessions/$1
    if is_session "$dir"; then return 0; fi
  done
  return 1
}
