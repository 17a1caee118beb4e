# Connects standard input and output to the socket of session $1, to speak dtach's protocol, or, with $2 = terminal,
# attaches the terminal that they are. $3: a word that makes all other clients leave, or ''. $4: a mark.
# On descriptor 2, first `MARK connected`, and last, each on a line, MARK and one of: ended CODE, lost, taken.
# Exit: 0, 10 no such session, 11 it has ended, 12 nothing here to attach with, 1 anything else.
name=$1 way=$2 word=$3 mark=$4
find_session "$name" || exit 10
# shellcheck disable=SC2154 # from session-common.sh
runs "$dir" || exit 11
cd "$dir" || exit 1
unset SBX_ATTACH_TEXT
tool=
case $way in
  terminal) tool=dtach ;;
  *) for each in python3 perl; do command -v $each >/dev/null 2>&1 && tool=$each && break; done ;;
esac
[ -n "$tool" ] || exit 12

# Attaches before it says that it has, so that nothing is missed that was caused afterwards. Keeps whole packets
# together, and gives up rather than hold up the session for a client that does not read.
relay() {
  case $tool in
    dtach) exec dtach -a socket -E -z -r winch ;;
    python3)
      exec python3 -c '
import os, select, socket, sys
s = socket.socket(socket.AF_UNIX)
s.connect("socket")
s.send(b"\1" + bytes(9))
os.write(2, (sys.argv[1] + " connected\n").encode())
for fd in (0, 1, s.fileno()): os.set_blocking(fd, False)
keys, shown, over = b"", b"", False
while not over or shown:
    whole = len(keys) // 10 * 10
    r, w, _ = select.select(([] if over else [s]) + ([0] if whole < 4000 and not over else []), ([1] if shown else []) + ([s] if whole and not over else []), [])
    if s in r:
        data = s.recv(65536)
        over = not data
        shown += data
        if len(shown) > 8 << 20: break
    if 0 in r:
        data = os.read(0, 65536)
        if not data: break
        keys += data
    try:
        if s in w: keys = keys[s.send(keys[:min(whole, 4000)]):]
        if 1 in w: shown = shown[os.write(1, shown[:65536]):]
    except BlockingIOError: pass
' "$mark"
      ;;
    perl)
      exec perl -e '
use strict; use Socket; use IO::Handle;
socket(my $s, PF_UNIX, SOCK_STREAM, 0) or die "socket: $!\n";
connect($s, pack_sockaddr_un("socket")) or die "connect: $!\n";
syswrite($s, "\1" . "\0" x 9);
syswrite(STDERR, "$ARGV[0] connected\n");
STDIN->blocking(0);
STDOUT->blocking(0);
$s->blocking(0);
my ($keys, $shown, $over) = ("", "", 0);
while (!$over || length $shown) {
  my $whole = int(length($keys) / 10) * 10;
  my ($r, $w) = ("", "");
  vec($r, $_, 1) = 0 for 0, 1, fileno($s);
  $w = $r;
  vec($r, fileno($s), 1) = 1 unless $over;
  vec($r, 0, 1) = 1 if $whole < 4000 && !$over;
  vec($w, 1, 1) = 1 if length $shown;
  vec($w, fileno($s), 1) = 1 if $whole && !$over;
  next if select($r, $w, undef, undef) < 0;
  if (vec($r, fileno($s), 1)) {
    my $n = sysread($s, $shown, 65536, length $shown);
    $over = 1 if defined $n ? $n == 0 : !$!{EAGAIN};
    last if length($shown) > 8 << 20;
  }
  if (vec($r, 0, 1)) {
    my $n = sysread(STDIN, $keys, 65536, length $keys);
    last if defined $n ? $n == 0 : !$!{EAGAIN};
  }
  if (vec($w, fileno($s), 1)) {
    my $n = syswrite($s, $keys, $whole < 4000 ? $whole : 4000);
    if (defined $n) { substr($keys, 0, $n) = "" } elsif (!$!{EAGAIN}) { $over = 1 }
  }
  if (vec($w, 1, 1)) {
    my $n = syswrite(STDOUT, $shown, 65536);
    if (defined $n) { substr($shown, 0, $n) = "" } elsif (!$!{EAGAIN}) { last }
  }
}' "$mark"
      ;;
  esac
}

# Known before it connects: whoever takes over afterwards ends it by this.
mkdir -p clients
stat_of $$ && {
  # shellcheck disable=SC2086,SC2154 # fields
  set -- $fields
  echo "${20}" >"clients/$$"
}
client='' told=
trap 'told=1; [ -z "$client" ] || kill "$client" 2>/dev/null' TERM
known=$(cat taken 2>/dev/null)
if [ -n "$word" ]; then
  known=$word
  printf %s "$word" >taken
  for other in clients/*; do
    pid=${other#clients/}
    if [ "$pid" = $$ ]; then continue; fi
    if read -r ticks 2>/dev/null <"$other" && lives "$pid" "$ticks"; then kill -s TERM "$pid"; fi
    rm -f "$other"
  done
fi
exec 5<&0
(trap - TERM && exec <&5 5<&- && relay) &
client=$!
[ -z "$told" ] || kill $client
wait $client
# A signal ends the waiting, too.
while kill -0 $client 2>/dev/null; do wait $client; done
rm -f "clients/$$"

# TERM alone says nothing: it also comes when the whole sandbox is stopped.
if [ "$(cat taken 2>/dev/null)" != "$known" ]; then
  end=taken
else
  tries=20
  # Its supervisor has yet to write down how it ended, when dtach was killed before it.
  while [ ! -e ./exit ] && ! runs . && [ $tries -gt 0 ]; do
    tries=$((tries - 1))
    sleep 0.1 2>/dev/null || sleep 1
  done
  code=-
  if [ -e ./exit ]; then read -r code _ <./exit && end="ended $code"; elif runs .; then end=lost; else end='ended -'; fi
fi
printf '%s %s\n' "$mark" "$end" >&2
