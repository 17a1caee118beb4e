# shellcheck disable=SC2034,SC2094,SC2317 # for exec-watch.sh; both ends of FIFOs; from there
# Runs a command for a client that can only ask a server to run shell text, and that gets nothing but text back. exec-watch.sh
# and the function sbx_run (exec-become.sh) come before this text. The text comes in SBX_EXEC. $1 workdir; $2... the command.
# Environment: SBX_MARK; SBX_INPUT, "data" or "none"; SBX_PATIENCE, the seconds without a word after which the client is gone; the
# late variables. What the command prints goes out as lines of base64. On the standard output there are also ours:
# "sbx:MARK:pid N", "sbx:MARK:exit N", "sbx:MARK:lacks PROGRAM". The command's end stands in its outputs too, as "sbx:MARK:end",
# because what it left behind may keep them open. The client's further requests find FIFOs in the folder.
sbx_here=/tmp/sbx-exec-$SBX_MARK
for sbx_name in mkfifo base64 dd; do
  command -v "$sbx_name" > /dev/null 2>&1 || { echo "sbx:$SBX_MARK:lacks $sbx_name"; exit 1; }
done
(umask 077 && mkdir "$sbx_here" && cd "$sbx_here" && mkfifo in in.end out out.more err err.more) || exit 1
sbx_tell() {
  :
}
# Bytes as they come. Beyond two megabytes it waits until the client asks for more.
sbx_encode() {
  sbx_room=2097152
  while sbx_part=$(dd bs=49152 count=1 2> /dev/null | base64) && [ -n "$sbx_part" ]; do
    printf '%s\n' "$sbx_part" || exit
    sbx_room=$((sbx_room - ${#sbx_part}))
    while [ "$sbx_room" -le 0 ]; do
      read -r _ <&7 || exit
      sbx_room=$((sbx_room + 1048576))
    done
  done
}
# The client says that it is there by a file. Not in one sleep, which would stay behind when we end.
sbx_heed() {
  sbx_silent=0
  while sleep 1; do
    sbx_silent=$((sbx_silent + 1))
    if [ -e "$sbx_here/lease" ]; then
      sbx_silent=0
      rm -f "$sbx_here/lease"
    elif [ "$sbx_silent" -ge "$SBX_PATIENCE" ]; then
      read -r sbx_self < "$sbx_here/pid" && sbx_terminate 50
      kill "$@"
      exit
    fi
  done
}
# Whoever opens one end of a FIFO waits for the other, but not who opens both; each end is open before anybody uses the other.
exec 3>&1 4>&2 2> /dev/null
exec 9<> "$sbx_here/out" 5> "$sbx_here/out" 7< "$sbx_here/out" 9>&-
(exec 3>&- 4>&- 5>&- <&7 7<> "$sbx_here/out.more" && sbx_encode) &
sbx_out=$!
exec 9<> "$sbx_here/err" 6> "$sbx_here/err" 7< "$sbx_here/err" 9>&-
(exec >&4 3>&- 4>&- 5>&- 6>&- <&7 7<> "$sbx_here/err.more" && sbx_encode) &
sbx_err=$!
sbx_in=
if [ "$SBX_INPUT" = data ]; then
  exec 9<> "$sbx_here/in" 8< "$sbx_here/in" 7> "$sbx_here/in" 9>&-
  # Holds the input open until the client says that it ends.
  (exec >&7 3>&- 4>&- 5>&- 6>&- 7>&- 8<&- && read -r _ < "$sbx_here/in.end") &
  sbx_in=$!
else
  exec 8< /dev/null
fi
exec 7>&-
echo "$sbx_out $sbx_err" > "$sbx_here/pids"
# Readers that go away must not end us; it is the command that has to hear of it.
trap : PIPE TERM
(
  exec > /dev/null 3>&- 4>&- 5>&- 6>&- 8<&-
  sbx_heed "$sbx_out" "$sbx_err"
) < /dev/null &
sbx_heeding=$!
# A command in the background would ignore INT for ever.
(
  read -r sbx_self _ < /proc/self/stat
  echo "$sbx_self" > "$sbx_here/pid"
  echo "sbx:$SBX_MARK:pid $sbx_self" >&3
  exec <&8 >&5 2>&6 3>&- 4>&- 5>&- 6>&- 8<&-
  unset SBX_INPUT SBX_PATIENCE
  sbx_run "$@"
)
sbx_code=$?
exec 8< /dev/null
printf 'sbx:%s:end' "$SBX_MARK" >&5
printf 'sbx:%s:end' "$SBX_MARK" >&6
exec 5>&- 6>&-
wait "$sbx_out" "$sbx_err"
# Only now: before, it might come out in the middle of a line of theirs. One that the client ended may have left half a line.
printf '\nsbx:%s:exit %s\n' "$SBX_MARK" "$sbx_code" >&3
kill $sbx_heeding $sbx_in
# Requests that wait to write into it are let go.
mv "$sbx_here" "$sbx_here.over" && exec 9<> "$sbx_here.over/in" 9>&-
rm -rf "$sbx_here.over"
exit 0
