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
# Of guest/exec-server.sh, where the client shares a folder with us. Started twice it is nobody's child, in a session of its own:
# setsid forks where it leads its group already. A job of this shell would ignore INT, and its commands with it.
sbx_serve() {
  [ -r /var/lib/sbx/exec/pipes/serve ] && command -v setsid > /dev/null || return 0
  setsid setsid /bin/sh /var/lib/sbx/exec/pipes/serve < /dev/null > /dev/null 2>&1
}
chmod 700 /var/lib/sbx/exec 2> /dev/null
[ "$1" != wait ] || sbx_serve
if [ "$1" = wait ] && [ ! -e /var/lib/sbx/made ]; then
  read -r sbx_word && [ "$sbx_word" = go ] || exit 70
  : > /var/lib/sbx/made
fi
sbx_until=$2
while :; do
  sbx_serve
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
