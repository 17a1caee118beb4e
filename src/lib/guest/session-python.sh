# Runs the shell of a session on a terminal of its own and records what it prints, where there is no `script`: holds
# nothing up for a program that does not read, and nothing for a full disk.
exec python3 -c '
import errno, fcntl, os, pty, select, signal, struct, sys, termios, tty

LIMIT, KEPT, BLOCK, WAITING = 4 << 20, 1 << 20, 65536, 1 << 20
outer = termios.tcgetattr(0)
size = fcntl.ioctl(0, termios.TIOCGWINSZ, b"\0" * 8)
pid, master = pty.fork()
if pid == 0:
    fcntl.ioctl(0, termios.TIOCSWINSZ, size)
    os.execvp("sh", ["sh", "./supervise", "shell"])
os.close(3)
tty.setraw(0)
wake_in, wake_out = os.pipe()
for each in (wake_in, wake_out, master):
    os.set_blocking(each, False)
signal.set_wakeup_fd(wake_out)
signal.signal(signal.SIGWINCH, lambda *_: None)
signal.signal(signal.SIGCHLD, lambda *_: None)


def partial():
    try:
        open("partial", "w").close()
    except OSError:
        pass


def record(data):
    try:
        with open("recording", "ab", buffering=0) as file:
            file.write(data)
            if file.tell() <= LIMIT - BLOCK:
                return
        with open("recording", "rb") as file:
            file.seek(-KEPT, os.SEEK_END)
            end = file.read()
        with open("recording.new", "wb") as file:
            file.write(end)
        os.replace("recording.new", "recording")
    except OSError:
        partial()
        try:
            if os.path.getsize("recording") > LIMIT - BLOCK:
                os.truncate("recording", 0)
        except OSError:
            pass


def show(data):
    while data:
        data = data[os.write(1, data):]


keys, status, alive, reading = b"", None, True, True
while alive:
    wanted = [master, wake_in] + ([0] if reading and len(keys) < WAITING else [])
    readable, writable, _ = select.select(wanted, [master] if keys else [], [], 0 if status is not None else None)
    # Before the keys that came after it.
    new = fcntl.ioctl(0, termios.TIOCGWINSZ, b"\0" * 8)
    if new != size:
        size = new
        fcntl.ioctl(master, termios.TIOCSWINSZ, size)
    if wake_in in readable:
        os.read(wake_in, BLOCK)
        if status is None:
            done, code = os.waitpid(pid, os.WNOHANG)
            status = code if done else None
    if 0 in readable:
        typed = os.read(0, BLOCK)
        reading = typed != b""
        keys += typed
    if writable:
        try:
            keys = keys[os.write(master, keys[:BLOCK]):]
        except OSError as error:
            if error.errno not in (errno.EAGAIN, errno.EIO):
                raise
            keys = keys if error.errno == errno.EAGAIN else b""
    if master in readable:
        try:
            data = os.read(master, BLOCK)
        except OSError:
            data = b""
        if data:
            record(data)
            show(data)
        else:
            alive = False
    elif status is not None:
        # What its background jobs may still print has no reader.
        alive = False
if status is None:
    status = os.waitpid(pid, 0)[1]
termios.tcsetattr(0, termios.TCSANOW, outer)
sys.exit(os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status))
'
