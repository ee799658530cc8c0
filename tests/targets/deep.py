"""A thread that is very deep in recursion: deep.py parked|spinning DEPTH."""
import sys
import threading
import time

import truth

DEPTH = int(sys.argv[2])


def down(n):
    if n > 0:
        return down(n - 1) + 1
    frame = sys._getframe()
    if sys.argv[1] == 'spinning':
        truth.note('deep', frame, 1)
        while 1: n = 0
    truth.note('deep', frame); time.sleep(3600)


def start():
    sys.setrecursionlimit(DEPTH + 1000)
    if (2, 5) <= sys.version_info[:2] < (3, 11):
        threading.stack_size(512 * 1024 * 1024)
    t = threading.Thread(target=down, args=(DEPTH,))
    truth.daemon(t)
    t.start()


start()
truth.wait_for(1)
truth.tell()
time.sleep(3600)
