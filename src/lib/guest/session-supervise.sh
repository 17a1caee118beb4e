# Keeps one session; run by dtach in the session's folder, on the terminal that clients attach to. Two roles:
#   (none)  records what the session prints and how it ended
#   shell   becomes the session's shell; prints `started` on descriptor 3 just before
# What to run stands in SBX_SESSION_*. All paths are relative to the folder, which can be renamed.
ticks_of() { # fields 3… of /proc/PID/stat
  ticks=${20:-0}
}
ticks() {
  line=
  read -r line 2>/dev/null <"/proc/$1/stat"
  # shellcheck disable=SC2086 # the fields of the line
  ticks_of ${line##*) }
}

if [ "${1-}" = shell ]; then
  exec 7>&- 8<&- 9<&-
  [ -z "${SBX_SESSION_SHELL+x}" ] || export SHELL="$SBX_SESSION_SHELL"
  if [ -n "${SBX_SESSION_LC_ALL+x}" ]; then export LC_ALL="$SBX_SESSION_LC_ALL"; else unset LC_ALL; fi
  number=0 words=''
  while [ $number -lt "$SBX_SESSION_ARGC" ]; do
    number=$((number + 1))
    words="$words \"\$SBX_SESSION_ARG_$number\""
  done
  eval "set -- $words"
  while [ $number -gt 0 ]; do
    unset "SBX_SESSION_ARG_$number"
    number=$((number - 1))
  done
  ticks $$
  echo "$$ $ticks" >shell
  umask "$SBX_SESSION_MASK"
  # shellcheck disable=SC2153 # from session-create.sh
  cd "$SBX_SESSION_CWD" || cd /
  if [ $# = 0 ]; then
    login=${SHELL:-/bin/sh}
    # What every sandbox has says nothing of this user.
    if [ "$login" = /bin/sh ]; then
      user=$(id -u)
      while IFS=: read -r _ _ number _ _ _ entry; do
        [ "$number" != "$user" ] || { login=$entry && break; }
      done </etc/passwd
    fi
    case $login in
      */nologin | */false) login= ;;
    esac
    if [ -z "$login" ] || [ ! -x "$login" ]; then login=$(command -v bash || command -v sh); fi
    export SHELL="$login"
    set -- "$login"
    case ${login##*/} in
      *sh) set -- "$login" -l ;;
    esac
  fi
  export SBX_SESSION_ID="$SBX_SESSION_WATCH"
  PATH=$SBX_SESSION_PATH
  [ -n "$PATH" ] || unset PATH
  unset SBX_SESSION_WATCH SBX_SESSION_MASK SBX_SESSION_CWD SBX_SESSION_EPOCH SBX_SESSION_ROWS SBX_SESSION_COLUMNS
  unset SBX_SESSION_ARGC SBX_SESSION_PATH SBX_SESSION_SHELL SBX_SESSION_LC_ALL SBX_SESSION_PYTHON OLDPWD
  echo started >&3
  exec "$@" 3>&-
fi

ticks $PPID
echo "$PPID $ticks $SBX_SESSION_EPOCH $SBX_SESSION_WATCH" >master.new && mv -f master.new master
stty rows "$SBX_SESSION_ROWS" cols "$SBX_SESSION_COLUMNS" 2>/dev/null
export SBX_SESSION_SHELL="${SHELL:-}"
[ -n "$SBX_SESSION_SHELL" ] || unset SBX_SESSION_SHELL
[ -z "${LC_ALL+x}" ] || export SBX_SESSION_LC_ALL="$LC_ALL"

# How it ends is written over what is there already, which takes no room on a disk that is full by then.
echo - >status
echo - >exit.new

# Writes how the session ended: a shell's exit status, or - when it is not known.
finish() {
  [ -e exit ] || { echo "$1 $(date +%s)" 1<>exit.new && mv -f exit.new exit; }
}

if stat -c %s recording >/dev/null 2>&1; then
  measure() { stat -c %s recording; }
else
  measure() { wc -c <recording; }
fi

# The recording has grown by as much as 3 MiB: its last MiB stays. A reader has the old file or the new one.
trim() {
  size=$(measure)
  [ "$size" -ge 3145728 ] || return 0
  if tail -c 1048576 recording >recording.new; then
    mv -f recording.new recording
  else
    # Without room for a second file, room comes first.
    rm -f recording.new
    : >recording
    : >partial
  fi
  size=$(measure)
}

# Copies standard input to the recording until its end. dd writes what it reads at once.
record() {
  size=$(measure)
  while :; do
    # shellcheck disable=SC2094 # $(…) is no pipeline
    report=$(LC_ALL=C dd bs=4096 count=256 2>&1 >>recording)
    status=$?
    case "
$report" in
      *'
0+0 records in'*) return 0 ;;
    esac
    if [ $status != 0 ]; then
      # A full disk, most often. Whatever it is, the session goes on.
      : >partial
      if [ $status = 127 ]; then cat >/dev/null && return; fi
      dd bs=4096 count=16 >/dev/null
    fi
    size=$((size + 1048576))
    [ "$size" -lt 3145728 ] || trim
  done
}

# Copies what `script` writes, without the line that it begins with.
recorder() {
  if [ ! -e header ]; then
    : >header
    IFS= read -r line
    case $line in 'Script started on '*) ;; *) printf '%s\n' "$line" >>recording ;; esac
  fi
  record
}

# The process `script` into $script: the parent of the shell.
find_script() {
  read -r pid _ <shell && read -r line <"/proc/$pid/stat" || return
  # shellcheck disable=SC2086 # the fields of the line
  set -- ${line##*) }
  script=$2
  grep -qs "SBX_SESSION_WATCH=$SBX_SESSION_WATCH" "/proc/$script/environ"
}

# When dtach is killed its terminal hangs up, which `script` does not hear. Without `script` the shell's own does too.
hang_up() {
  if find_script; then kill -s KILL "$script"; fi
}

# When all were stopped and go on, as after a pause, `script` hears that its shell was stopped, and stops once more.
go_on() {
  looks=10
  while [ $looks -gt 0 ] && find_script; do
    sleep 0.1 2>/dev/null || sleep 1
    case $(cat "/proc/$script/stat" 2>/dev/null) in
      *') T '*) kill -s CONT "$script" ;;
    esac
    looks=$((looks - 1))
  done
}

# A recorder that was killed is followed by another: without a reader `script` would stand still.
keep_recording() {
  trap '' INT QUIT TERM
  trap hang_up HUP
  trap go_on CONT
  status=1
  until [ $status = 0 ]; do
    (trap '' HUP && exec <&8 8<&- && recorder) &
    recorder=$!
    wait $recorder
    status=$?
    # A signal ends the waiting, too.
    while kill -0 $recorder 2>/dev/null; do
      wait $recorder
      status=$?
    done
    [ $status = 0 ] || : >partial
  done
  end=$(tail -c 160 recording | tail -n 2 | tr '\n' '!')
  case $end in
    *'!Script done on '*']!')
      end=!${end#*!}
      size=$(measure)
      dd if=/dev/null of=recording bs=1 seek=$((size - ${#end})) 2>/dev/null
      ;;
  esac
  read -r code <status
  finish "${code:--}"
}

trap : INT QUIT
if command -v script >/dev/null 2>&1 && mkfifo -m 600 pipe 2>/dev/null &&
  case $(script --version 2>/dev/null) in *util-linux*) ;; *) false ;; esac; then
  # shellcheck disable=SC2094 # both ends, to have a reader and a writer from the beginning
  exec 7<>pipe 8<pipe
  # By exec: redirections of the function's call would be undone at its end, and so be kept until then.
  (exec </dev/null >/dev/null 2>&1 3>&- 7>&- && keep_recording) &
  # In the foreground, as the terminal's keys want it, and without ignored signals to pass on.
  SHELL=/bin/sh LC_ALL=C script -q -e -f -c 'exec sh ./supervise shell' /proc/self/fd/7 8<&-
  status=$?
  echo $status 1<>status
  exec 7>&- 8<&-
  wait
  finish $status
elif command -v python3 >/dev/null 2>&1; then
  sh -c "$SBX_SESSION_PYTHON"
  finish $?
else
  # Nothing to record with.
  : >unrecorded
  sh ./supervise shell
  finish $?
fi
# What is left behind on the terminal would keep dtach, and gVisor of 2022 does not tell it that its terminal is over.
(sleep 1 && grep -qs "SBX_SESSION_WATCH=$SBX_SESSION_WATCH" "/proc/$PPID/environ" && kill "$PPID") \
  </dev/null >/dev/null 2>&1 3>&- &
