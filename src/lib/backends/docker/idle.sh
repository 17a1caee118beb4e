# Process 1 of a container, as its root: waits, reaps what has lost its parent, and on TERM asks everything to end.
# $1 "wait" when the container is to be furnished first: then a line "go" comes in, or the end of its maker.
# $2 when its time is up, in seconds since 1970; empty for never.
sbx_end() {
  trap '' TERM INT HUP
  # In this form: with `-s` dash wants a "--", which busybox does not take.
  kill -TERM -1 2> /dev/null
  # The engine kills what is still there when it loses patience. `wait` reaps; what we started is among the others.
  while :; do
    set -- /proc/[0-9]*
    [ "$#" -gt 1 ] || exit 0
    sleep 0.05 2> /dev/null || sleep 1 || exit 0
  done
}
trap sbx_end TERM INT HUP
if [ ! -d /var/lib/sbx/processes ]; then
  mkdir -p /var/lib/sbx/processes && chmod 1777 /var/lib/sbx/processes
fi 2> /dev/null
if [ "$1" = wait ] && [ ! -e /var/lib/sbx/made ]; then
  read -r sbx_word && [ "$sbx_word" = go ] || exit 70
  : > /var/lib/sbx/made
fi
sbx_until=$2
while :; do
  sbx_left=86400
  if [ -n "$sbx_until" ]; then
    sbx_left=$((sbx_until - $(date +%s)))
    [ "$sbx_left" -gt 0 ] || sbx_end
    # A clock that is set is noticed.
    [ "$sbx_left" -lt 3600 ] || sbx_left=3600
  fi
  sleep "$sbx_left" &
  # Where there is no sleep: nobody writes to our input.
  wait "$!" || read -r _ || exit 70
done
