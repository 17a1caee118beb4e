# Prints every session that this user may look into: a line with $1 (which no record can know), a line
#   NAME STATE PID CREATED CODE ENDED ATTACHED ROWS COLUMNS RECORDING TICKS      (`-` where unknown)
# the words of the command in the foreground, each followed by a NUL, of which the first 4 KiB, a line with $1 again,
# and the working folder of that command with a newline.
# TICKS orders those of one second. $2: only this name. STATE: running, ended. ATTACHED: yes, no. RECORDING: whole, partial, none.
mark=$1 only=${2:-}

terminal_of() { # fields of the shell
  group=$6
  # The numbers of the terminals below /dev/pts.
  [ $((($5 >> 8) & 4095)) -lt 136 ] || tty=/dev/pts/$((($5 & 255) + ((($5 >> 8) & 4095) - 136) * 256 + (($5 >> 20) << 8)))
}

for base in "${SBX_GUEST_DIR:-/var/lib/sbx}" /tmp/.sbx-*; do
  for dir in "$base"/sessions/${only:-*}; do
    is_session "$dir" || continue
    pid=- master=- ticks=- created=- code=- ended=- attached=- rows=- columns=- recording=whole state=ended
    group='' tty='' shell_ticks=''
    read -r master ticks created _ 2>/dev/null <"$dir/master"
    read -r pid shell_ticks 2>/dev/null <"$dir/shell"
    if [ -e "$dir/exit" ]; then
      read -r code ended 2>/dev/null <"$dir/exit"
    elif lives "$master" "$ticks"; then
      state=running attached=no
      [ ! -x "$dir/socket" ] || attached=yes
      # shellcheck disable=SC2086,SC2154 # fields, from session-common.sh
      if lives "$pid" "$shell_ticks"; then terminal_of $fields; fi
      if [ -n "$tty" ]; then
        read -r rows columns 2>/dev/null <<END
$(stty size 2>/dev/null <"$tty")
END
      fi
      # A group whose first process has ended is told by another; the shell is the last choice.
      [ -n "$group" ] && [ -e "/proc/$group/cmdline" ] || group=$pid
    fi
    [ ! -e "$dir/partial" ] || recording=partial
    [ ! -e "$dir/unrecorded" ] || recording=none
    printf '%s\n' "$mark"
    echo "${dir##*/} $state ${pid:--} ${created:--} ${code:--} ${ended:--} $attached ${rows:--} ${columns:--} $recording $ticks"
    [ -z "$group" ] || dd bs=4096 count=1 2>/dev/null <"/proc/$group/cmdline"
    printf '%s\n' "$mark"
    [ -z "$group" ] || readlink "/proc/$group/cwd" 2>/dev/null
  done
done
printf '%s\n' "$mark"
