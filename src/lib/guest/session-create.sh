# Starts a session and prints, on one line: running PID EPOCH
# Arguments: text of session-supervise.sh, name, id, rows, columns, then the command; none for the login shell.
# Exit: 0 started, 10 one of this name runs, 12 no folder to write to, 13 there is no dtach, 1 anything else.
supervisor=$1 name=$2 id=$3 rows=$4 columns=$5
shift 5
# Whoever ends this exec by its mark must not end what is started here.
unset SBX_EXEC_ID
export SBX_SESSION_PATH="${PATH-}"
command -v dd >/dev/null 2>&1 || export PATH="${PATH:+$PATH:}/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
command -v dtach >/dev/null 2>&1 || exit 13
cwd=$(pwd)
mask=$(umask)
umask 022

# shellcheck disable=SC3067 # dash and busybox have -O
usable() {
  [ -d "$1/sessions" ] || mkdir -p "$1/sessions" 2>/dev/null || return 1
  # Every user of the sandbox may keep sessions here, as in /tmp.
  [ ! -O "$1/sessions" ] || chmod 1777 "$1/sessions" 2>/dev/null
  [ -w "$1/sessions" ]
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
all=$base/sessions

lock "$all"

dir=$all/$name
if [ -e "$dir" ] || [ -L "$dir" ]; then
  if runs "$dir"; then exit 10; fi
  rm -rf "$dir" 2>/dev/null
fi
if ! why=$(mkdir -m 700 "$dir" 2>&1); then
  # Another user's keeps its name.
  [ ! -e "$dir" ] || exit 10
  echo "$why" >&2
  exit 1
fi

# Of those that ended the newest 16 stay.
ended=0
# shellcheck disable=SC2012,SC2010 # the names are checked when they are given
ls -t "$all" | while read -r old; do
  if [ "$old" = "$name" ] || runs "$all/$old"; then continue; fi
  ended=$((ended + 1))
  [ $ended -le 16 ] || rm -rf "${all:?}/$old" 2>/dev/null
done

fail() {
  [ ! -s "$dir/error" ] || tail -n 1 "$dir/error" >&2
  rm -rf "$dir"
  exit 1
}
epoch=$(date +%s)
{ printf '%s\n' "$supervisor" >"$dir/supervise" && : >"$dir/recording" && : >"$dir/taken"; } || fail
cd "$dir" || fail

# By the environment, not as arguments: a `pkill -f` inside that means the command must not find its supervisor.
export SBX_SESSION_WATCH="$id" SBX_SESSION="$name" SBX_SESSION_MASK="$mask" SBX_SESSION_CWD="$cwd"
export SBX_SESSION_EPOCH="$epoch" SBX_SESSION_ROWS="$rows" SBX_SESSION_COLUMNS="$columns" SBX_SESSION_ARGC=$#
number=0
for argument; do
  number=$((number + 1))
  export "SBX_SESSION_ARG_$number=$argument"
done
# A relative path: a session can be renamed, and the address of a socket has room for 107 characters.
dtach -n socket -E -z -r winch sh ./supervise 3>&1 9<&- </dev/null >/dev/null 2>error | {
  read -r word && [ "$word" = started ] && read -r pid _ <shell || exit 1
  echo "running $pid $epoch"
} || fail
rm -f error
