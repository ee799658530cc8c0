"""The programs that utils/bench looks at: bench-target.py REPORT MODE [ARGUMENTS]

    gaps DEPTH ASLEEP NATIVE   one busy thread that notes the gaps in its own loop, ASLEEP sleeping ones, all DEPTH
                               deep, and NATIVE threads that Python does not know
    steps                      every 10 ms: 3 ms in step_a, the rest in step_b
    shares                     share_1 .. share_4 take about 10, 20, 30 and 40 % of the time
    blocked                    a busy thread, and three in system calls that a stop would break
    waker                      a thread that waits 0.3 or 1 ms in epoll_wait, and works a little
    mild                       mostly asleep

It prints its pid, and at SIGTERM writes to REPORT what was true of it.  Runs on every CPython from 2.7 on.
"""
import array
import os
import signal
import struct
import sys
import threading
import time

clock = getattr(time, 'perf_counter', time.time)
GAP = 0.000005
stop = []


def ready():
    sys.stdout.write('%d\n' % os.getpid())
    sys.stdout.flush()


def report(data):
    f = open(sys.argv[1] + '.part', 'wb')
    f.write(data)
    f.close()
    os.rename(sys.argv[1] + '.part', sys.argv[1])
    os._exit(0)


def daemon(function, *args):
    t = threading.Thread(target=function, args=args)
    t.daemon = True
    t.start()


# ---- gaps ----

times, gaps = array.array('d'), array.array('d')


def down(n, function):
    if n > 0:
        down(n - 1, function)
    else:
        function()


def asleep():
    while 1:
        time.sleep(3600)


def watch_gaps():
    ready()
    last = clock()
    while not stop:
        now = clock()
        if now - last > GAP:
            times.append(last)
            gaps.append(now - last)
            now = clock()
        last = now


def native_threads(n):
    import ctypes
    libc, thread = ctypes.CDLL(None), ctypes.c_ulong()
    for _ in range(n):
        libc.pthread_create(ctypes.byref(thread), None, ctypes.cast(libc.pause, ctypes.c_void_p), None)


def mode_gaps(depth, n_asleep, n_native):
    sys.setrecursionlimit(10000)
    native_threads(int(n_native))
    for _ in range(int(n_asleep)):
        daemon(down, max(0, int(depth) - 5), asleep)  # threading has three frames, and asleep one
    time.sleep(0.2)
    down(max(0, int(depth) - 4), watch_gaps)
    report(struct.pack('q', len(gaps)) + getattr(times, 'tobytes', getattr(times, 'tostring', None))() +
           getattr(gaps, 'tobytes', getattr(gaps, 'tostring', None))())


# ---- known shares ----

spent = {}


def until(name):
    """Source of a function: each must be a frame of its own."""
    return '''
def %s(start, end):
    now = start
    while now < end:
        now = clock()
    spent['%s'] = spent.get('%s', 0) + now - start
    return now
''' % (name, name, name)


for name in ['step_a', 'step_b', 'share_1', 'share_2', 'share_3', 'share_4']:
    exec(compile(until(name), 'bench_steps.py', 'exec'))


def tell_spent():
    report(repr(spent).encode())


def mode_steps():
    ready()
    now = clock()
    while not stop:
        beat = int(now * 100 + 0.5) / 100.0
        now = step_a(now, beat + 0.003)
        now = step_b(now, beat + 0.01)
    tell_spent()


def mode_shares():
    ready()
    now = clock()
    while not stop:
        now = share_1(now, now + 0.00037)
        now = share_2(now, now + 0.00074)
        now = share_3(now, now + 0.00111)
        now = share_4(now, now + 0.00148)
    tell_spent()


# ---- sleepers that a stop would disturb ----

EINTR = 4
returned = {'epoll_wait': 0, 'recv': 0, 'semop': 0, 'waker': 0, 'calls': 0}


def stand(name, call, ctypes):
    while not stop:
        ctypes.set_errno(0)
        call()
        if ctypes.get_errno() == EINTR:
            returned[name] = returned[name] + 1
        else:
            time.sleep(0.01)


def mode_blocked():
    import ctypes
    import socket
    libc = ctypes.CDLL(None, use_errno=True)
    a, b = socket.socketpair()
    a.setsockopt(socket.SOL_SOCKET, socket.SO_RCVTIMEO, struct.pack('ll', 600, 0))
    epoll, events, room = libc.epoll_create(1), ctypes.create_string_buffer(16), ctypes.create_string_buffer(8)
    number = libc.semget(0, 1, 384)
    operation = ctypes.create_string_buffer(struct.pack('Hhh', 0, -1, 0), 6)
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])  # the end must not wake them
    daemon(stand, 'epoll_wait', lambda: libc.epoll_wait(epoll, events, 1, -1), ctypes)
    daemon(stand, 'recv', lambda: libc.recv(a.fileno(), room, 1, 0), ctypes)
    daemon(stand, 'semop', lambda: libc.semop(number, operation, 1), ctypes)
    time.sleep(0.3)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTERM])
    ready()
    while not stop:
        pass
    libc.semctl(number, 0, 0)
    report(repr(returned).encode())


def mode_waker():
    import ctypes
    libc = ctypes.CDLL(None, use_errno=True)
    epoll, events, wait = libc.epoll_create(1), ctypes.create_string_buffer(16), libc.epoll_pwait2
    short = ctypes.create_string_buffer(struct.pack('ll', 0, 300000), 16)
    ready()
    while not stop:
        for end in (short, None):
            ctypes.set_errno(0)
            if end:
                wait(epoll, events, 1, end, None)
            else:
                libc.epoll_wait(epoll, events, 1, 1)
            returned['calls'] = returned['calls'] + 1
            if ctypes.get_errno() == EINTR and not stop:
                returned['waker'] = returned['waker'] + 1
        for _ in range(500):
            pass
    report(repr(returned).encode())


def mode_mild():
    ready()
    while not stop:
        for _ in range(2000):
            pass
        time.sleep(0.01)
    report(b'{}')


signal.signal(signal.SIGTERM, lambda *_: stop.append(1))
globals()['mode_' + sys.argv[2]](*sys.argv[3:])
