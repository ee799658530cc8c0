"""A program with something going on: worker.py FILE [MODE].

A worker thread counts in the first 8 bytes of FILE, so that a test can see from outside that work goes on.  MODE:
  plain     that and no more
  threads   starts and ends threads all the time
  fork      forks children that end at once, all the time
  exits     ends by itself after half a second
  exec      replaces itself by the same program once, after a second (then it is plain)
  signals   counts SIGUSR1 in the second 8 bytes of FILE
"""
import mmap
import os
import signal
import struct
import sys
import threading
import time

import truth

MODE = (sys.argv[2:] + ['plain'])[0]
if not os.path.exists(sys.argv[1]):
    f = open(sys.argv[1], 'wb')
    f.write(struct.pack('QQ', 0, 0))
    f.close()
f = open(sys.argv[1], 'r+b')
counters = mmap.mmap(f.fileno(), 16)


def count():
    n = 0
    while 1:
        n = n + 1
        if n % 1000 == 0:
            counters[0:8] = struct.pack('Q', n)


def nothing():
    time.sleep(0.0005)


def on_signal(number, frame):
    n = struct.unpack('Q', counters[8:16])[0]
    counters[8:16] = struct.pack('Q', n + 1)


def start(function):
    t = threading.Thread(target=function)
    truth.daemon(t)
    t.start()


def act():
    if MODE == 'threads':
        while 1:
            start(nothing)
            time.sleep(0.0003)
    elif MODE == 'fork':
        while 1:
            if os.fork() == 0:
                os._exit(0)
            os.wait()
    elif MODE == 'exits':
        time.sleep(0.5)
        os._exit(7)
    elif MODE == 'exec':
        time.sleep(1)
        os.execv(sys.executable, [sys.executable, sys.argv[0], sys.argv[1], 'plain'])
    while 1:
        time.sleep(0.01)


start(count)
if MODE == 'signals':
    signal.signal(signal.SIGUSR1, on_signal)
truth.tell()
act()
