"""Processes and targets: what is started here ends with us."""
import array
import ast
import contextlib
import ctypes
import glob
import math
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "tests/e2e"))
import harness  # noqa: E402

CLEAN = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
CLEAN.update(LC_ALL="C.UTF-8", PYTHONDONTWRITEBYTECODE="1")
libc = ctypes.CDLL(None)


class Skip(Exception):
    """Why something cannot be measured."""


# ---- processes ----

started = []
folders = []


def lift():
    """In the child: die with the bench, and have the upper hand over what else runs here, if that is allowed."""
    libc.prctl(1, signal.SIGKILL)
    with contextlib.suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, 0, -15)
        with open("/proc/self/autogroup", "w") as f:
            f.write("-15")


@contextlib.contextmanager
def lifted():
    """The same for us and what we start meanwhile."""
    usual, group = os.getpriority(os.PRIO_PROCESS, 0), "/proc/self/autogroup"

    def to(n):
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, 0, n)
            with open(group, "w") as f:
                f.write(str(n))
    to(-15)
    try:
        yield
    finally:
        to(usual)


def popen(words, **kw):
    p = subprocess.Popen(words, stdin=subprocess.DEVNULL, start_new_session=True, preexec_fn=lift, env=CLEAN, **kw)
    started.append(p)
    return p


def kill(p):
    with contextlib.suppress(OSError):
        os.killpg(p.pid, signal.SIGKILL)
    p.wait()
    if p in started:
        started.remove(p)


def cleanup():
    for p in list(started):
        kill(p)
    while folders:
        shutil.rmtree(folders.pop(), ignore_errors=True)


def cpu_of(pid):
    """CPU seconds of a process: its own clock, of all its threads."""
    with contextlib.suppress(OSError):
        return time.clock_gettime((~pid << 3) | 2)
    return math.nan


def peak_kb(pid):
    """Not from wait4(): that begins with the memory of the process that forked."""
    with contextlib.suppress(OSError):
        with open("/proc/%d/status" % pid) as f:
            found = re.search(r"VmHWM:\s+(\d+)", f.read())
        return int(found[1]) if found else 0
    return 0


def run_counts(pid):
    """How often each thread but the main one was given a CPU."""
    counts = {}
    for path in glob.glob("/proc/%d/task/*/schedstat" % pid):
        tid = path.split("/")[-2]
        with contextlib.suppress(OSError):
            if tid != str(pid):
                counts[tid] = int(open(path).read().split()[2])
    return counts




# ---- targets ----
class Target:
    """A program of ours under one Python; in a root of its own it gets a /proc, which Tachyon wants."""

    def __init__(self, python, mode, *args, script="bench-target.py"):
        self.python, self.threads, self.report = python, 1, None
        inside = tempfile.mkdtemp(prefix="pystill-bench-", dir=(python.root or "") + "/tmp")
        folders.append(inside)
        os.chmod(inside, 0o777)
        self.folder, self.shown = inside, inside[len(python.root or ""):]
        churn = script == "churn.py"
        for name in ["churn.py", "truth.py"] if churn else [script]:
            shutil.copy(os.path.join(harness.TARGETS if churn else HERE, name), inside)
        words = python.start + [self.shown + "/" + script]
        words += [str(a) for a in args] if churn else [self.shown + "/report", mode] + [str(a) for a in args]
        if python.root:
            mount = 'mount -t proc proc "$0"/proc && exec "$@"'
            words = ["unshare", "--mount", "sh", "-c", mount, python.root] + words
        self.process = popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        try:
            line = harness.read_line(self.process, 60)
        except harness.Fail as why:
            raise Skip("%s: %s" % (python.name, str(why).strip().split("\n")[-1]))
        self.truth = ast.literal_eval(line)
        self.pid = self.truth["pid"] if churn else self.truth
        time.sleep(0.1)

    def stop(self):
        """Returns what it reports of itself, as bytes."""
        os.kill(self.pid, signal.SIGTERM)
        path, end = self.folder + "/report", time.monotonic() + 10
        while not os.path.exists(path) and time.monotonic() < end:
            time.sleep(0.01)
        data = b""
        with contextlib.suppress(OSError):
            data = open(path, "rb").read()
        self.close()
        return data

    def close(self):
        kill(self.process)
        shutil.rmtree(self.folder, ignore_errors=True)


def gaps_of(data):
    """[(when, length)] of a target of mode gaps."""
    if len(data) < 8:
        raise Skip("the target left no report")
    n = int.from_bytes(data[:8], "little")
    both = array.array("d", data[8:8 + 16 * n])
    return list(zip(both[:n], both[n:]))


def taken_in(gaps, window, slice_seconds=0.05):
    """Percent of a window that was gaps: the mean of its slices without the fifth that had most and the fifth that had
    least, since what else runs on the machine comes in bursts."""
    n = int((window[1] - window[0]) / slice_seconds)
    slices = [0.0] * n
    for when, length in gaps:
        i = int((when - window[0]) // slice_seconds)
        while length > 0 and i < n:  # a gap may last for several
            here = min(length, window[0] + (i + 1) * slice_seconds - when)
            if i >= 0:
                slices[i] += here
            when, length, i = when + here, length - here, i + 1
    kept = sorted(slices)[n // 5:n - n // 5]
    return sum(kept) / len(kept) / slice_seconds * 100


def beside(base, when):
    """The mean of the windows with no profiler just before and just after WHEN."""
    before = [x for t, x in base if t < when][-1:]
    after = [x for t, x in base if t > when][:1]
    return statistics.mean(before + after)
