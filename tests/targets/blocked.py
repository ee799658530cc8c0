"""Threads that stand in 31 system calls, beside one that computes: blocked.py SECONDS.  Then it says in $REPORT which
calls came back, and how: "NAME RESULT ERRNO".  A call that this kernel lacks is named as such.
"""
import ctypes
import os
import socket
import struct
import sys
import tempfile
import threading
import time

libc = ctypes.CDLL(None, use_errno=True)
returned = []
standing = []
cleanup = []

SYS_futex, SYS_io_setup, SYS_io_getevents, SYS_epoll_pwait2 = 202, 206, 208, 441
SYS_timerfd_create, SYS_eventfd2, SYS_inotify_init1 = 283, 290, 294
ENOSYS = 38


def buffer(data):
    return ctypes.create_string_buffer(data, len(data))


def timespec(seconds):
    return buffer(struct.pack('ll', seconds, 0))


def later(seconds):
    return timespec(int(time.time()) + seconds)


def pair():
    return socket.socketpair()


def epoll_wait(timeout):
    return lambda ep=libc.epoll_create(1), events=buffer(b'\0' * 16): libc.epoll_wait(ep, events, 1, timeout)


def epoll_pwait2():
    ep, events, wait = libc.epoll_create(1), buffer(b'\0' * 16), timespec(600)
    return lambda: libc.syscall(SYS_epoll_pwait2, ep, events, 1, wait, None, 0)


def receive(timeout):
    a, b = pair()
    if timeout:
        a.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack('ll', 600, 0))
    cleanup.append((a, b))
    return lambda fd=a.fileno(), room=buffer(b'\0' * 8): libc.recv(fd, room, 1, 0)


def accept():
    s = socket.socket(socket.AF_UNIX)
    s.bind('\0pystill-test-%d' % os.getpid())
    s.listen(1)
    cleanup.append(s)
    return lambda fd=s.fileno(): libc.accept(fd, None, None)


def semaphore(wait):
    number, down = libc.semget(0, 1, 384), buffer(struct.pack('Hhh', 0, -1, 0))
    cleanup.append(lambda: libc.semctl(number, 0, 0))
    if wait:
        return lambda t=timespec(600): libc.semtimedop(number, down, 1, t)
    return lambda: libc.semop(number, down, 1)


def sigtimedwait():
    wanted = buffer(struct.pack('Q', 1 << 59) + b'\0' * 120)
    libc.pthread_sigmask(0, wanted, None)
    return lambda: libc.sigtimedwait(wanted, None, timespec(600))


def io_getevents():
    context, events = ctypes.c_ulong(0), buffer(b'\0' * 32)
    libc.syscall(SYS_io_setup, 1, ctypes.byref(context))
    return lambda: libc.syscall(SYS_io_getevents, context, ctypes.c_long(1), ctypes.c_long(1), events, None)


def poll(call):
    a, b = pair()
    cleanup.append((a, b))
    entry = buffer(struct.pack('ihh', a.fileno(), 1, 0))
    if call == 'poll':
        return lambda: libc.poll(entry, 1, 600000)
    return lambda: libc.ppoll(entry, 1, timespec(600), None)


def select(call):
    a, b = pair()
    cleanup.append((a, b))
    def wait():
        bits = bytearray(128)
        bits[a.fileno() // 8] = 1 << a.fileno() % 8
        readers = buffer(bytes(bits))
        if call == 'select':
            return libc.select(a.fileno() + 1, readers, None, None, timespec(600))
        return libc.pselect(a.fileno() + 1, readers, None, None, timespec(600), None)
    return wait


def futex(operation, wait):
    word = buffer(b'\0' * 4)
    return lambda: libc.syscall(SYS_futex, word, operation, 0, wait and wait(600), None, ctypes.c_uint(0xffffffff))


def condition():
    lock, cond = buffer(b'\0' * 64), buffer(b'\0' * 64)
    def wait():
        libc.pthread_mutex_lock(lock)
        result = libc.pthread_cond_timedwait(cond, lock, later(600))
        libc.pthread_mutex_unlock(lock)
        return result
    return wait


def posix_semaphore():
    return lambda s=buffer(b'\0' * 32): libc.sem_timedwait(s, later(600))


def reader(fd):
    return lambda: libc.read(fd, buffer(b'\0' * 64), 64)


def pipe():
    r, w = os.pipe()
    cleanup.append((r, w))
    return reader(r)


def message():
    queue = libc.msgget(0, 384)
    cleanup.append(lambda: libc.msgctl(queue, 0, None))
    return lambda: libc.msgrcv(queue, buffer(b'\0' * 64), ctypes.c_size_t(8), ctypes.c_long(0), 0)


def child():
    pid = os.fork()
    if pid == 0:
        libc.prctl(1, 9, 0, 0, 0)  # PR_SET_PDEATHSIG: it must not outlive us
        time.sleep(600)
        os._exit(0)
    cleanup.append(lambda: os.kill(pid, 9))
    return lambda: libc.waitpid(pid, None, 0)


def lock():
    holder = tempfile.NamedTemporaryFile()
    mine = open(holder.name)
    libc.flock(holder.fileno(), 2)
    cleanup.append((holder, mine))
    return lambda: libc.flock(mine.fileno(), 2)


CALLS = [
    ('epoll_wait, infinite', epoll_wait(-1)), ('epoll_wait, finite', epoll_wait(600000)),
    ('epoll_pwait2', epoll_pwait2()), ('recv with SO_RCVTIMEO', receive(True)), ('semop', semaphore(False)),
    ('semtimedop', semaphore(True)), ('sigtimedwait', sigtimedwait()), ('io_getevents', io_getevents()),
    ('nanosleep', lambda: libc.nanosleep(timespec(600), None)),
    ('clock_nanosleep', lambda: libc.clock_nanosleep(1, 0, timespec(600), None)),
    ('poll', poll('poll')), ('ppoll', poll('ppoll')), ('select', select('select')), ('pselect', select('pselect')),
    ('futex', futex(0, None)), ('futex, relative', futex(0, timespec)), ('futex, absolute', futex(265, later)),
    ('pthread_cond_timedwait', condition()), ('sem_timedwait', posix_semaphore()), ('read of a pipe', pipe()),
    ('read of an eventfd', reader(libc.syscall(SYS_eventfd2, 0, 0))),
    ('read of a timerfd', reader(libc.syscall(SYS_timerfd_create, 1, 0))),
    ('read of inotify', reader(libc.syscall(SYS_inotify_init1, 0))),
    ('recv', receive(False)), ('accept', accept()), ('msgrcv', message()), ('pause', libc.pause),
    ('waitpid', child()), ('flock', lock()), ('sleep', lambda: libc.sleep(600)), ('usleep', lambda: libc.usleep(600000000)),
]


def stand(name, call):
    standing.append(name)
    while 1:
        ctypes.set_errno(0)
        result = call()
        returned.append('%s %d %d' % (name, result, ctypes.get_errno()))
        if ctypes.get_errno() == ENOSYS:
            return
        time.sleep(0.01)


def main():
    for name, call in CALLS:
        t = threading.Thread(target=stand, args=(name, call))
        t.daemon = True
        t.start()
    end = time.time() + float(sys.argv[1])
    while time.time() < end:
        pass
    f = open(os.environ['REPORT'], 'w')
    f.write('standing %d\n' % len(standing))
    f.write(''.join([line + '\n' for line in returned]))
    f.close()
    for undo in cleanup:
        if callable(undo):
            undo()
    os._exit(0)


main()
