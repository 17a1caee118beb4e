# Stands for a sandbox without walls while it runs: this is the process that its init file names. $1 is where a FIFO may
# be made. Descriptor 3 is the client: it hears "ready", and says "go" once we are known; if it vanishes before, we end.
trap '' HUP INT TERM
rm -f "$1"
mkfifo -m 600 "$1" || exit 1
# Nobody else writes to it, and we hold both ends: reading waits for ever, without a process more.
exec 4<> "$1"
rm -f "$1"
echo ready >&3
read -r answer <&3 || exit 1
[ "$answer" = go ] || exit 1
exec 3>&-
while :; do read -r _ <&4; done
