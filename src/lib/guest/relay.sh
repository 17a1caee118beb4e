# Connects standard input and output with a TCP port: relay.sh TOOL PORT HOST [HOST]. Prints one line on stderr when
# it knows how the connection went: `connected`, `refused`, or `failed WHY`. perl, python3 and node say `ended` before
# they close their output for an end that the port meant; without it the connection broke. Other lines mean nothing.
tool=$1 port=$2
shift 2

say() { printf '%s\n' "$1" >&2; }

# For tools that do not tell whether they connected: picks the host whose port listens, out of the kernel's tables.
choose() {
  hex=$(printf '%04X' "$port")
  for host; do
    case $host in
      127.0.0.1) want='0100007F 00000000 00000000000000000000000000000000 0000000000000000FFFF00000100007F' ;;
      ::1) want='00000000000000000000000001000000 00000000000000000000000000000000' ;;
      *) return 0 ;;
    esac
    for table in /proc/net/tcp /proc/net/tcp6; do
      [ -r "$table" ] || continue
      while read -r _ local _ state _; do
        case "$state ${local#*:} $want " in
          "0A $hex "*"${local%:*} "*) return 0 ;;
        esac
      done <"$table"
    done
  done
  say refused
  exit 1
}

case $tool in
  perl)
    # shellcheck disable=SC2016
    exec perl -MSocket=:DEFAULT,getaddrinfo -MErrno=ECONNREFUSED,EINTR,EAGAIN -e '
      my $port = shift; my ($s, $first);
      for my $host (@ARGV) {
        my ($why, @found) = getaddrinfo($host, $port, { socktype => SOCK_STREAM });
        if ($why) { $first ||= "failed $why"; next }
        for my $to (@found) {
          socket(my $try, $to->{family}, SOCK_STREAM, 0) or next;
          if (connect($try, $to->{addr})) { $s = $try; last }
          $first ||= $! == ECONNREFUSED ? "refused" : "failed $!";
        }
        last if $s;
      }
      unless ($s) { print STDERR ($first || "failed"), "\n"; exit 1 }
      setsockopt($s, Socket::IPPROTO_TCP, Socket::TCP_NODELAY, 1);
      print STDERR "connected\n";
      # Whether to try again; gVisor says EAGAIN for sockets of its host, which it should wait for.
      sub again {
        my ($file, $writes) = @_; my $set = "";
        return 1 if $! == EINTR;
        return 0 if $! != EAGAIN;
        vec($set, fileno $file, 1) = 1;
        select($writes ? undef : $set, $writes ? $set : undef, undef, undef);
        return 1;
      }
      sub carry {
        my ($from, $to) = @_; my $data;
        while (1) {
          my $n = sysread($from, $data, 65536);
          next if !defined $n && again($from, 0);
          exit 1 unless defined $n;
          return unless $n;
          my $at = 0;
          while ($at < $n) {
            my $m = syswrite($to, $data, $n - $at, $at);
            next if !defined $m && again($to, 1);
            exit 1 unless defined $m;
            $at += $m;
          }
        }
      }
      defined(my $child = fork) or exit 1;
      unless ($child) { close STDOUT; carry(\*STDIN, $s); shutdown($s, 1); exit 0 }
      close STDIN; carry($s, \*STDOUT); print STDERR "ended\n"; close STDOUT; waitpid($child, 0); exit($? ? 1 : 0);
    ' "$port" "$@"
    ;;
  python3)
    exec python3 -c '
import os, socket, sys, threading
def say(text):
    os.write(2, (text + "\n").encode())
sock = first = None
for host in sys.argv[2:]:
    try:
        sock = socket.create_connection((host, int(sys.argv[1])))
        break
    except ConnectionRefusedError:
        first = first or "refused"
    except OSError as error:
        first = first or "failed %s" % error
if sock is None:
    say(first or "failed")
    sys.exit(1)
sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
say("connected")
def upload():
    try:
        while True:
            data = os.read(0, 65536)
            if not data:
                break
            sock.sendall(data)
        sock.shutdown(socket.SHUT_WR)
    except OSError:
        os._exit(1)
up = threading.Thread(target=upload)
up.start()
try:
    while True:
        data = sock.recv(65536)
        if not data:
            break
        view = memoryview(data)
        while view:
            view = view[os.write(1, view):]
    say("ended")
    os.close(1)
except OSError:
    os._exit(1)
up.join()
' "$port" "$@"
    ;;
  node)
    exec node -e '
const net = require("net");
const [port, ...hosts] = process.argv.slice(1);
let first;
const fail = () => process.exit(1);
const next = () => {
  const host = hosts.shift();
  if (host === undefined) { process.stderr.write((first || "failed") + "\n"); process.exitCode = 1; return; }
  const s = net.connect({ host, port: Number(port), allowHalfOpen: true });
  const refused = (e) => { first = first || (e.code === "ECONNREFUSED" ? "refused" : "failed " + e.message); next(); };
  s.once("error", refused);
  s.once("connect", () => {
    s.off("error", refused);
    s.on("error", fail); s.setNoDelay(true);
    process.stdin.on("error", fail); process.stdout.on("error", fail);
    process.stderr.write("connected\n");
    process.stdin.pipe(s); s.pipe(process.stdout, { end: false });
    s.once("end", () => process.stdout.write("", () => {
      process.stderr.write("ended\n", () => require("fs").closeSync(1));
    }));
  });
};
next();
' "$port" "$@"
    ;;
  socat)
    choose "$@"
    say connected
    case $host in *:*) host="[$host]" ;; esac
    # socat does not close a pipe when the port has ended, so that the end shows only after -t seconds, which also
    # bound how long the port may be silent after the input has ended.
    exec socat -t 2 - "TCP:$host:$port,nodelay"
    ;;
  nc-openbsd)
    choose "$@"
    say connected
    exec nc -N "$host" "$port"
    ;;
  nc)
    choose "$@"
    say connected
    exec nc "$host" "$port"
    ;;
  bash)
    # bash cannot end one direction of a socket: the end of input ends the connection once the other side ends.
    # shellcheck disable=SC2016
    exec bash -c '
      for host in "${@:2}"; do
        if exec 3<>"/dev/tcp/$host/$1"; then ok=1; break; fi
      done 2>/dev/null
      [ -n "${ok-}" ] || { echo refused >&2; exit 1; }
      echo connected >&2
      cat <&3 3>&- & reader=$!
      { cat >&3; } <&4 4<&- >/dev/null & writer=$!
      exec 3>&- 4<&- 1>&-
      wait "$reader"
      wait "$writer"
    ' relay "$port" "$@" 4<&0
    ;;
  *)
    say "failed no tool $tool"
    exit 1
    ;;
esac
