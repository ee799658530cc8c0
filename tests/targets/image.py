"""A small program for tests/images: some threads at rest, each in a shape of its own.

It is run by way of exec, under the file name `image.py`, so that no path of the machine is in its memory.
"""
import sys
import time
try:
    import thread as _thread
except ImportError:
    import _thread
import threading

notes = []
lock = _thread.allocate_lock()
lock.acquire()


def note(name, frame):
    stack = []
    while frame is not None:
        code = frame.f_code
        stack.append([code.co_filename, getattr(code, 'co_qualname', code.co_name), frame.f_lineno])
        frame = frame.f_back
    stack.reverse()
    notes.append({'ident': _thread.get_ident(), 'name': name, 'stack': stack})


def name_thread(name):
    """Make threading know this thread, by this name."""
    current = getattr(threading, 'current_thread', None) or threading.currentThread
    t = current()
    if hasattr(t, 'name'):
        t.name = name
    else:
        t.setName(name)


def leaf(name):
    name_thread(name)
    note(name, sys._getframe()); lock.acquire()


def recursion(n, name):
    if n == 0:
        return leaf(name)
    return recursion(
        n - 1, name)


def generator(name):
    yield 1
    yield leaf(name)


def drive(name):
    for x in generator(name):
        pass


class Thing(object):
    def __init__(self, name):
        self.value = leaf(name)


def initializer(name):
    for f in [len] * 3000 + [Thing]:
        f(name)


def gap(name):
    x = 1




    leaf(
        name)


def long_line(name):
    x = 2
    y = (x*1 + x*2 + x*3 + x*4 + x*5 + x*6 + x*7 + x*8 + x*9 + x*10 + x*11 + x*12 + x*13 + x*14 + x*15) and leaf(name)


def shapes():
    text = sys.version_info[0] > 2 and chr(0x20ac) or 'euro'
    return [(recursion, (5, 'recursion')), (drive, ('generator',)), (initializer, ('init ' + text,)), (gap, ('gap',)),
            (long_line, ('line',))]


for function, args in shapes():
    _thread.start_new_thread(function, args)
while len(notes) < len(shapes()):
    time.sleep(0.05)
time.sleep(0.2)
note('MainThread', sys._getframe())
notes[-1]['stack'][-1][2] = notes[-1]['stack'][-1][2] + 2
sys.stdout.write(repr(notes) + '\n'); sys.stdout.flush(); time.sleep(3600)
