"""Functions that call each other all the time, so that a stack read while it moves shows.

    churn.py THREADS LEAF_LOOPS [sleepers]

Four chains x1 -> x2 -> x3 -> leaf_x (x in a b c d), with frames of one size; each function calls from one line only.
A stack is possible only within one chain, and every frame but the newest must be at its call line.
"""
import sys
import threading
import time

import truth

LOOPS = int(sys.argv[2])
CHAIN = '''
def leaf_%(x)s(n):
    while n:
        n = n - 1
    return n
def %(x)s3(n):
    m = leaf_%(x)s(n)
    return m
def %(x)s2(n):
    m = %(x)s3(n)
    return m
def %(x)s1(n):
    m = %(x)s2(n)
    return m
'''
SOURCE = ''.join([CHAIN % {'x': x} for x in 'abcd']) + '''
def work():
    while 1:
        a1(LOOPS)
        b1(LOOPS)
        c1(LOOPS)
        d1(LOOPS)
'''


def call_lines():
    """{function: {callee: line}} from the source."""
    calls, function, number = {}, None, 0
    for line in SOURCE.split('\n'):
        number = number + 1
        if line.startswith('def '):
            function = line[4:line.index('(')]
            calls[function] = {'': [number, number]}
            continue
        if not line.strip():
            continue
        calls[function][''][1] = number
        for callee in [c + d for c in 'abcd' for d in '123'] + ['leaf_' + c for c in 'abcd']:
            if callee + '(' in line:
                calls[function][callee] = number
    return calls


def waker():
    """A thread that sleeps and works by turns."""
    while 1:
        time.sleep(0.0003)
        space['a1'](1)


space = {'LOOPS': LOOPS}
exec(compile(SOURCE, 'churn_code.py', 'exec'), space)
if hasattr(sys, 'setswitchinterval'):
    sys.setswitchinterval(0.0005)
threads = [threading.Thread(target=space['work']) for i in range(int(sys.argv[1]))]
threads = threads + [threading.Thread(target=waker) for i in range('sleepers' in sys.argv and 8 or 0)]
for t in threads:
    truth.daemon(t)
    t.start()
truth.tell(calls=call_lines())
while 1:
    time.sleep(3600)
