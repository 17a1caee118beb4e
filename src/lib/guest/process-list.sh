# Prints every process record: a line with $1 (which no record can know), a line
#   ID NAME STATE PID TICKS STARTED CODE ENDED ARGC      (`-` where unknown)
# and the bytes of its argv file, of which the first 32 KiB.
# $2: only this id. STATE: running, exited.
mark=$1 only=${2:-}

state_of() { # pid, ticks; uses the line of its stat
  line=
  read -r line 2>/dev/null <"/proc/$1/stat" || [ -n "$line" ] || return 1
  # A name with a line break cuts the line: the rest follows.
  case $line in *') '*) ;; *) line=$(tr '\n' ' ' 2>/dev/null <"/proc/$1/stat") ;; esac
  s_ticks=$2
  # shellcheck disable=SC2086 # the fields of the line
  set -- ${line##*) }
  case $1 in Z | X) return 1 ;; esac
  [ "$s_ticks" = 0 ] || [ "$s_ticks" = "${20}" ]
}

for base in "${SBX_GUEST_DIR:-/var/lib/sbx}" /tmp/.sbx-*; do
  for dir in "$base"/processes/${only:-*}; do
    if [ ! -d "$dir" ] || [ -L "$dir" ]; then continue; fi
    name=- pid=- ticks=- started=- argc=- code=- ended=- state=exited
    [ ! -e "$dir/name" ] || read -r name 2>/dev/null <"$dir/name"
    [ ! -e "$dir/started" ] || read -r pid ticks started argc 2>/dev/null <"$dir/started"
    if [ -e "$dir/exit" ]; then
      read -r code ended 2>/dev/null <"$dir/exit"
    elif state_of "$pid" "$ticks"; then
      state=running
    fi
    printf '%s\n' "$mark"
    echo "${dir##*/} ${name:--} $state ${pid:--} ${ticks:--} ${started:--} ${code:--} ${ended:--} ${argc:--}"
    dd bs=32768 count=1 2>/dev/null <"$dir/argv"
  done
done
printf '%s\n' "$mark"
