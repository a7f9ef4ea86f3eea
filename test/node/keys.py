# SPDX-License-Identifier: Apache-2.0
#
# A command on a terminal of its own, for keys.sh:
#
#	python3 keys.py COMMAND... <STEPS
#
# STEPS are lines: 'see REGEX' waits for output that comes after what was seen last, 'press KEYS', 'size
# ROWS COLUMNS', 'mode raw|cooked' waits until the terminal gives keys one by one or lines, 'stop' presses
# ^Z and waits until it has stopped, 'go' continues it, 'behind' puts it into the background, 'ahead' into
# the foreground, 'signal NAME', 'pause SECONDS', 'ends CODE' (-N: by signal N). At the end the terminal
# must be as it was. Prints each step that does not come about within a minute, and the exit code tells.
import fcntl, os, pty, re, select, signal, struct, sys, termios, time

LIMIT = float(os.environ.get("LIMIT", 60))

def cooked(fd):
    flags = termios.tcgetattr(fd)[3]
    return bool(flags & termios.ICANON) and bool(flags & termios.ECHO)

def until(what):
    end = time.monotonic() + LIMIT
    while time.monotonic() < end:
        if what():
            return True
        time.sleep(0.01)
    return False

# The session's leader, between the terminal and the command: as a shell, it has the foreground when the
# command has not, and sees it stop.
def lead(slave, argv, orders):
    pid = os.fork()
    if pid == 0:
        os.setpgid(0, 0)
        os.tcsetpgrp(0, os.getpid())
        signal.signal(signal.SIGTTOU, signal.SIG_DFL)
        signal.signal(signal.SIGINT, signal.SIG_DFL) # a test in the background may have it ignored
        os.execvp(argv[0], argv)
    os.close(0), os.close(1), os.close(2)
    for line in orders:
        word = line.strip()
        if word == 'pid':
            say = pid
        elif word == 'behind':
            say = os.tcsetpgrp(slave, os.getpid())
        elif word == 'ahead':
            say = os.tcsetpgrp(slave, pid)
        else: # wait
            say = os.waitpid(pid, os.WUNTRACED)[1]
        os.write(answers[1], b'%s\n' % str(say).encode())

def main():
    before = termios.tcgetattr(slave)
    seen, at = b'', 0
    ask = lambda word: (os.write(orders[1], word + b'\n'), from_leader.readline())[1].strip()

    def read():
        nonlocal seen
        if select.select([master], [], [], 0.01)[0]:
            seen += os.read(master, 65536)

    def sees(regex):
        nonlocal at
        read()
        found = re.compile(regex.encode(), re.M).search(seen, at)
        if found:
            at = found.end()
        return found

    pid = int(ask(b'pid'))
    for line in sys.stdin:
        word, _, rest = line.rstrip('\n').partition(' ')
        good = True
        if word == 'see':
            good = until(lambda: sees(rest))
        elif word == 'press':
            os.write(master, rest.encode())
        elif word == 'size':
            rows, columns = map(int, rest.split())
            fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack('HHHH', rows, columns, 0, 0))
        elif word == 'mode':
            good = until(lambda: (read(), cooked(slave) == (rest == 'cooked'))[1])
        elif word == 'stop':
            os.write(master, b'\x1a')
            good = os.WIFSTOPPED(int(ask(b'wait')))
        elif word == 'go':
            os.kill(pid, signal.SIGCONT)
        elif word in ('behind', 'ahead'):
            ask(word.encode())
        elif word == 'pause':
            time.sleep(float(rest))
        elif word == 'signal':
            os.kill(pid, getattr(signal, rest))
        elif word == 'ends':
            good = until(lambda: (read(), os.path.exists('/proc/%d/exe' % pid) is False)[1])
            status = int(ask(b'wait'))
            good = good and os.waitstatus_to_exitcode(status) == int(rest)
        if not good:
            print('not so: %s\nsince then: %r' % (line.strip(), seen[at:][-2000:]))
            os.kill(pid, signal.SIGKILL)
            return 1
    if termios.tcgetattr(slave) != before:
        print('the terminal is not as it was')
        return 1
    return 0

master, slave = pty.openpty()
fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack('HHHH', 40, 120, 0, 0))
orders, answers = os.pipe(), os.pipe()
if os.fork() == 0:
    os.setsid()
    fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
    signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    for fd in (0, 1, 2):
        os.dup2(slave, fd)
    os.close(orders[1])
    lead(slave, sys.argv[1:], os.fdopen(orders[0]))
    os._exit(0)
from_leader = os.fdopen(answers[0])
sys.exit(main())
