# Starts a background process and prints, on one line, how that went:
#   running PID EPOCH | exited PID EPOCH CODE ENDED
# Arguments: text of process-supervise.sh, id, name or '', workdir or '', then the command.
# Exit: 0 started (also when the command cannot be run: its record says so), 10 the name is taken,
# 11 the id is taken, 12 no folder to write to, 1 anything else.
supervisor=$1 id=$2 name=$3 workdir=$4
shift 4
# Whoever ends this exec by its mark must not end what is started here.
unset SBX_EXEC_ID
# The command's PATH need not lead to the tools used here.
export SBX_SUPERVISE_PATH="${PATH-}"
export PATH="${PATH:+$PATH:}/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
cwd=$(pwd)
mask=$(umask)
umask 022

# shellcheck disable=SC3067 # dash and busybox have -O
usable() {
  [ -d "$1/processes" ] || mkdir -p "$1/processes" 2>/dev/null || return 1
  # Every user of the sandbox may keep processes here, as in /tmp.
  [ ! -O "$1/processes" ] || chmod 1777 "$1/processes" 2>/dev/null
  [ -w "$1/processes" ]
}
base=${SBX_GUEST_DIR:-/var/lib/sbx}
if ! usable "$base"; then
  base=/tmp/.sbx-$(id -u)
  # shellcheck disable=SC3067
  if ! usable "$base" || [ ! -O "$base" ]; then
    echo "neither ${SBX_GUEST_DIR:-/var/lib/sbx} nor $base can be written" >&2
    exit 12
  fi
fi
all=$base/processes

alive() { # folder of a process
  [ ! -e "$1/exit" ] && read -r a_pid a_ticks _ 2>/dev/null <"$1/started" || return 1
  read -r a_line 2>/dev/null <"/proc/$a_pid/stat" || return 1
  a_line=${a_line##*) }
  # shellcheck disable=SC2086 # the fields of the line
  set -- $a_line
  [ "$1" != Z ] && [ "$a_ticks" = "${20}" ]
}

# Old ended processes make room: the newest 256 records stay.
prune() {
  set -- "$all"/*/
  [ $# -gt 320 ] || return 0
  kept=0
  # shellcheck disable=SC2012 # the names are ids
  ls -t "$all" | while read -r old; do
    kept=$((kept + 1))
    [ $kept -le 256 ] || [ ! -e "$all/$old/exit" ] || rm -rf "${all:?}/$old"
  done
}
prune

if [ -n "$name" ]; then
  lock "$all"
  for other in "$all"/*/; do
    taken=
    [ ! -e "$other/name" ] || read -r taken <"$other/name"
    if [ "$taken" = "$name" ] && alive "${other%/}"; then
      echo "${other%/}" >&2
      exit 10
    fi
  done
fi

dir=$all/$id
mkdir "$dir" 2>/dev/null || exit 11
epoch=$(date +%s)
if ! { printf '%s\0' "$@" >"$dir/argv" && : >"$dir/log" && echo "$epoch 0" >"$dir/index" &&
  printf '%s\n' "$supervisor" >"$dir/supervise"; }; then
  rm -rf "$dir"
  exit 1
fi
[ -z "$name" ] || printf '%s\n' "$name" >"$dir/name"
# Who has it open is alive, for readers that cannot see these process ids.
mkfifo -m 622 "$dir/alive" 2>/dev/null

# By the environment, not as arguments: a `pkill -f` inside that means the command must not find its watcher.
export SBX_SUPERVISE_EPOCH="$epoch" SBX_SUPERVISE_MASK="$mask" SBX_SUPERVISE_CWD="$cwd" SBX_SUPERVISE_WORKDIR="$workdir"
export SBX_SUPERVISE_ARGC=$#
number=0
for argument; do
  number=$((number + 1))
  export "SBX_SUPERVISE_ARG_$number=$argument"
done
launch() {
  if command -v setsid >/dev/null 2>&1; then
    # The outer one leads a session, so the inner one has to fork: detached without `&`, which would have the
    # command ignore INT and QUIT for good.
    setsid setsid sh "$dir/supervise" watch
  else
    sh "$dir/supervise" watch &
  fi
}

# Until execve, the process still carries the command line of the launcher.
executed() {
  tries=0
  while [ $tries -lt 500 ]; do
    tries=$((tries + 1))
    line=
    IFS= read -r line 2>/dev/null <"/proc/$1/cmdline"
    case $line in
      '') [ -d "/proc/$1" ] || return 1 ;;
      *"$dir/supervise"*) ;;
      *setsid--*) ;;
      *) return 0 ;;
    esac
  done
}

# shellcheck disable=SC2094 # the folder, not the pipe
launch 9<&- </dev/null 2>/dev/null | {
  read -r word || { echo 'the supervisor could not be started' >&2; exit 1; }
  read -r pid _ <"$dir/started"
  # A command that could not be run ends at once, and its record follows.
  [ "$word" = ended ] || executed "$pid" || read -r word
  state=running
  if [ -e "$dir/exit" ]; then read -r code ended <"$dir/exit" && state=exited; fi
  echo "$state $pid $epoch ${code-} ${ended-}"
}
