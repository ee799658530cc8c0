"""Two sub-interpreters, each in a thread of its own: interpreters.py parked|spinning (3.8+).

Where they share the GIL (to 3.11) a request to let go of it does not reach another interpreter, so they let go by
themselves.
"""
import os
import sys
import threading
import time

import truth

try:
    import _interpreters as api
except ImportError:
    import _xxsubinterpreters as api

SPIN = sys.argv[1] == 'spinning'
LET_GO = sys.version_info[:2] < (3, 12) and '; time.sleep(0)' or ''
CODE = """
import os, sys, time
def stack_of(frame):
    stack = []
    while frame is not None:
        code = frame.f_code
        stack.append([code.co_filename, getattr(code, 'co_qualname', code.co_name), frame.f_lineno])
        frame = frame.f_back
    stack.reverse()
    return stack
def leaf():
    stack = stack_of(sys._getframe())
    if %(spin)r:
        stack[-1][2] += 4
        os.write(%(fd)d, (repr(stack) + chr(10)).encode())
        while True: x = sum(range(20000))%(let_go)s
    stack[-1][2] += 7
    os.write(%(fd)d, (repr(stack) + chr(10)).encode())
    time.sleep(3600)
def outer_%(n)d():
    leaf()
outer_%(n)d()
"""


def run(n, fd):
    interp = api.create()
    api.run_string(interp, CODE % {'spin': SPIN, 'fd': fd, 'n': n, 'let_go': LET_GO})


r, w = os.pipe()
for n in (1, 2):
    t = threading.Thread(target=run, args=(n, w))
    t.daemon = True
    t.start()
with os.fdopen(r) as f:
    for n in (1, 2):
        truth.notes.append({'name': 'sub%d' % n, 'ident': 0, 'stack': eval(f.readline())})
time.sleep(0.2)
truth.note('main', sys._getframe(), 1)
truth.tell(); time.sleep(3600)
