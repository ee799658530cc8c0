"""What every target shares: it notes the stacks that it is in, then tells them.

Runs on every CPython from 2.3 on, so it keeps to the syntax of that.  A note is a list of [file, function, line],
root first, of one thread; the function is qualified where the version has that.
"""
import os
import sys
import time

try:
    import thread as _thread
except ImportError:
    import _thread

notes = []


def daemon(thread):
    """Do not wait for it at the end."""
    if hasattr(thread, 'daemon'):
        thread.daemon = True
    else:
        thread.setDaemon(1)


def stack_of(frame):
    stack = []
    while frame is not None:
        code = frame.f_code
        stack.append([code.co_filename, getattr(code, 'co_qualname', code.co_name), frame.f_lineno])
        frame = frame.f_back
    stack.reverse()
    return stack


def note(name, frame, lines_on=0):
    """Note the stack of FRAME; its own line is LINES_ON further down than where this call stands."""
    stack = stack_of(frame)
    stack[-1][2] = stack[-1][2] + lines_on
    notes.append({'name': name, 'ident': _thread.get_ident(), 'stack': stack})


def jit_is_on():
    jit = getattr(sys, '_jit', None)
    return bool(jit and jit.is_enabled())


def tell(**more):
    """Print one line of Python literals: the truth, and whatever else the test wants to know."""
    truth = {'pid': os.getpid(), 'version': list(sys.version_info)[:3], 'threads': notes, 'jit': jit_is_on()}
    truth.update(more)
    sys.stdout.write(repr(truth) + '\n')
    sys.stdout.flush()


def wait_for(count):
    """Wait until COUNT notes are there (at most 60 s)."""
    end = time.time() + 60
    while len(notes) < count and time.time() < end:
        time.sleep(0.01)
    time.sleep(0.1)
