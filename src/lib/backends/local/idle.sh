# Process 1 of a sandbox for the rest of its life: waits, and reaps what has lost its parent.
read -r pid rest < /proc/self/stat
echo "init $pid" >&3
read -r answer <&3 || exit 1
[ "$answer" = go ] || exit 1
exec 3>&-
unset SBX_IDLE pid rest answer
cd /
while :; do
  sleep 2147483647 &
  # Where there is no sleep, or it was killed: nobody writes to a terminal that nobody has opened.
  wait "$!" || {
    (read -r _ < /dev/ptmx) &
    wait
  }
done
