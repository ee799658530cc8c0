"""Programs to launch: launched.py MODE [ARGUMENT].  Each writes what it has to say to the file $REPORT, if that is set.

  mirror      says all that it inherited
  exit N      ends with status N
  raise       ends with an exception
  kill N      kills itself with signal N
  spin S      computes for S seconds, in spin()
  handlers    counts signals; says "ready", then a line for each that came; ends by SIGTERM with status 9
  children    forks 100 children one by one, awaiting SIGCHLD for each
  waits       takes signals by sigwait, sigtimedwait and signalfd, one thread each; ends by SIGTERM
  interrupt   takes two seconds to end after KeyboardInterrupt, then ends with status 4
  identity    says who it is
  daemon      leaves a child that goes on for a second, and ends
  setuid      sets its uid 300 times while ten threads sleep
  churn S     starts and ends threads, and forks, for S seconds
  stop N      says "ready", then stops itself by N, if N is not 0, and goes on; ends after two seconds
"""
import os
import signal
import sys
import threading
import time

try:
    import thread as _thread
except ImportError:
    import _thread


def say(text):
    path = os.environ.get('REPORT')
    if path:
        f = open(path, 'a')
        f.write(text + '\n')
        f.close()


def read(path):
    try:
        f = open(path)
        text = f.read()
        f.close()
        return text
    except (IOError, OSError):
        return 'cannot be read'


def descriptor(n):
    """What descriptor N is, in words that do not depend on when it was opened."""
    try:
        st = os.fstat(n)
    except OSError:
        return 'closed'
    return '%s %o %d' % (os.readlink('/proc/self/fd/%d' % n), st.st_mode, st.st_ino)


def status_lines():
    keys = ('SigBlk', 'SigIgn', 'SigCgt', 'Uid', 'Gid', 'Groups', 'CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb',
            'NoNewPrivs', 'Seccomp', 'Cpus_allowed', 'Umask', 'TracerPid')
    return [line for line in read('/proc/self/status').split('\n') if line.split(':')[0] in keys]


def terminal():
    try:
        fd = os.open('/dev/tty', os.O_RDWR)
    except OSError:
        return 'none'
    group = os.tcgetpgrp(fd)
    os.close(fd)
    return 'foreground group %d' % group


def mirror():
    say('argv %r' % sys.argv)
    say('environ %r' % [item for item in sorted(os.environ.items()) if item[0] != 'REPORT'])
    say('cwd ' + os.getcwd())
    say('group %d session %d' % (os.getpgrp(), os.getsid(0)))
    say('terminal ' + terminal())
    for n in range(20):
        say('descriptor %d %s' % (n, descriptor(n)))
    for line in status_lines():
        say(line)
    for name in 'limits', 'timerslack_ns', 'oom_score_adj', 'cgroup', 'personality', 'comm':
        say('%s: %s' % (name, read('/proc/self/' + name)))
    say('nice %d' % os.nice(0))


def spin(seconds):
    end = time.time() + seconds
    while time.time() < end:
        pass


def handlers():
    seen = []
    for n in list(range(1, 32)) + list(range(34, 65)):
        if n not in (signal.SIGKILL, signal.SIGSTOP, signal.SIGSEGV, signal.SIGTSTP, signal.SIGCONT, signal.SIGCHLD):
            try:
                signal.signal(n, lambda number, frame: seen.append(number))
            except (ValueError, RuntimeError):
                pass
    say('ready')
    while signal.SIGTERM not in seen:
        try:
            spin(0.001)
            time.sleep(0.001)
        except (IOError, OSError):
            pass
        while seen and seen[0] != signal.SIGTERM:
            say('signal %d' % seen.pop(0))
    say('signal %d' % signal.SIGTERM)
    os._exit(9)


def children():
    seen = []
    signal.signal(signal.SIGCHLD, lambda number, frame: seen.append(number))
    for i in range(100):
        if os.fork() == 0:
            os._exit(0)
        while len(seen) <= i:
            spin(0.0005)
        os.wait()
    say('children %d' % len(seen))


def waits():
    import ctypes
    libc = ctypes.CDLL(None)
    numbers = signal.SIGUSR1, signal.SIGUSR2, signal.SIGRTMIN + 3
    signal.pthread_sigmask(signal.SIG_BLOCK, numbers)
    mask = ctypes.create_string_buffer(128)
    mask[(numbers[2] - 1) // 8] = 1 << (numbers[2] - 1) % 8
    fd = libc.signalfd(-1, mask, 0)

    def loop(take):
        while 1:
            say('signal %d' % take())

    for take in (lambda: signal.sigwait([numbers[0]]), lambda: signal.sigtimedwait([numbers[1]], 600).si_signo,
                 lambda: bytearray(os.read(fd, 128))[0]):
        t = threading.Thread(target=loop, args=(take,))
        t.daemon = True
        t.start()
    say('ready')
    while 1:
        spin(0.01)


def interrupt():
    count = 0
    try:
        say('ready')
        while 1:
            spin(0.01)
    except KeyboardInterrupt:
        count = 1
    try:
        spin(2)
    except KeyboardInterrupt:
        count = 2
    say('interrupts %d' % count)
    sys.exit(4)


def identity():
    say('uid %d %d gid %d %d' % (os.getuid(), os.geteuid(), os.getgid(), os.getegid()))
    say('groups %r' % sorted(os.getgroups()))
    say(' '.join([os.environ.get(k, '-') for k in ('HOME', 'USER', 'LOGNAME')]))


def daemon():
    if os.fork() == 0:
        os.setsid()
        time.sleep(1)
        say('daemon ends')
        os._exit(0)
    say('parent ends')
    sys.exit(6)


def setuid():
    for _ in range(10):
        _thread.start_new_thread(time.sleep, (60,))
    for _ in range(300):
        os.setuid(os.getuid())
        spin(0.001)
    say('done')


def churn(seconds):
    end = time.time() + seconds
    while time.time() < end:
        threads = [threading.Thread(target=time.sleep, args=(0.0005,)) for _ in range(10)]
        for t in threads:
            t.start()
        if os.fork() == 0:
            os._exit(0)
        for t in threads:
            t.join()
        os.wait()
    say('done')


def stop(number):
    say('ready')
    if number:
        os.kill(os.getpid(), number)
    spin(2)
    say('done')


def main():
    mode = sys.argv[1]
    argument = (sys.argv[2:] + ['0'])[0]
    if mode == 'exit':
        sys.exit(int(argument))
    elif mode == 'raise':
        raise ValueError('on purpose')
    elif mode == 'kill':
        os.kill(os.getpid(), int(argument))
        time.sleep(5)
    elif mode in ('spin', 'churn'):
        globals()[mode](float(argument))
    elif mode == 'stop':
        stop(int(argument))
    else:
        globals()[mode]()


main()
