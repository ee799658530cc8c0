"""What end-to-end tests are made of: interpreters, targets that tell the truth, and runs of pystill.

A test is a function that takes a Test and is marked with @for_pythons or @once; run.py finds and runs them.
"""
import ast
import contextlib
import os
import re
import resource
import select
import shutil
import signal
import subprocess
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TARGETS = os.path.join(os.path.dirname(HERE), "targets")
FUTEX, WRITE = "202", "1"  # system calls on x86-64
PYSTILL = os.environ.get("PYSTILL", "pystill")


class Skip(Exception):
    """This test cannot run here; the text says why."""


class Fail(AssertionError):
    pass


# ---- interpreters ----

class Python:
    """One line of utils/interpreters."""

    def __init__(self, name, version, flavour, bits, start):
        self.name, self.version_text, self.flavour, self.bits = name, version, flavour, int(bits)
        self.start = start.split()
        m = re.match(r"(\d+)\.(\d+)\.(\d+)", version)
        self.version = tuple(int(x) for x in m.groups())
        self.minor = self.version[:2]
        self.free_threaded = flavour == "freethreaded"
        self.abi = "%d%d" % self.minor + ("t" if self.free_threaded else "")
        self.root = self.start[1] if self.start[0] == "chroot" else None

    def unsupported(self):
        """Why this build of pystill does not read it, or None."""
        if self.bits != 64:
            return "32-bit targets are not read yet"
        return None


def system_python():
    """The python3 that runs these tests."""
    import sys
    text = "%d.%d.%d" % sys.version_info[:3]
    return Python("this-" + text, text, "release", 64, sys.executable)


def read_pythons(lines):
    return [Python(*line.rstrip("\n").split("\t")) for line in lines if line.strip()]


def can_embed(python):
    """Can Test.embed() be tried with it?"""
    return not python.unsupported() and python.name.startswith(("pyenv-3", "system-3")) and \
        python.flavour == "release" and python.minor >= (3, 8)


# One version for each way to keep frames, lines or the GIL.
ERAS = {(2, 3): "int sizes", (2, 7): "frame objects, no switch counter", (3, 0): "wide text", (3, 2): "new GIL",
        (3, 3): "flexible text", (3, 6): "statics", (3, 8): "runtime", (3, 10): "line ranges",
        (3, 11): "cframe", (3, 12): "own GIL, shims", (3, 13): "current frame", (3, 14): "tagged code",
        (3, 15): "base frame"}


def stands_for_its_era(python):
    return not python.unsupported() and (python.free_threaded or python.flavour == "release" and python.minor in ERAS)


# ---- marks ----

def for_pythons(choose=lambda python: not python.unsupported()):
    """Run the test once for each interpreter that CHOOSE wants."""
    def mark(f):
        f.choose = choose
        return f
    return mark


def for_eras(choose=stands_for_its_era):
    """The same for the first that is found of each era, release and free-threaded: what does not depend on more."""
    def mark(f):
        f.choose = choose
        f.first_of_kind = True
        return f
    return mark


def once(f):
    """Run the test once, on the machine's own python3."""
    f.choose = None
    return f


def full_only(f):
    """Leave the test out of `make check`: it takes long."""
    f.full_only = True
    return f


# ---- targets ----

class Target:
    """A running program that tells its truth in one line."""

    def __init__(self, process, truth):
        self.process, self.truth = process, truth
        self.pid = truth["pid"] if truth else process.pid

    def stacks(self):
        """{name: [(file, function, line), ...]}, root first."""
        return {t["name"]: [tuple(f) for f in t["stack"]] for t in self.truth["threads"]}

    def idents(self):
        """{ident: name of the note}, as unsigned numbers."""
        return {t["ident"] % (1 << 64): t["name"] for t in self.truth["threads"]}

    def settle(self, seconds=30):
        """Wait until the main thread sleeps: after telling the truth it may have to wait for the GIL first."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            with open("/proc/%d/task/%d/syscall" % (self.pid, self.pid)) as f:
                number = f.read().split()[0]
            if number not in ("running", FUTEX, WRITE):
                return
            time.sleep(0.01)
        raise Fail("the main thread does not come to rest")

    def kill(self):
        try:
            os.kill(self.pid, signal.SIGKILL)
        except OSError:
            pass
        self.process.kill()
        self.process.wait()


def decode_py2(value):
    """A str of 2.x holds bytes; literal_eval read them as Latin-1."""
    if isinstance(value, str):
        return value.encode("latin-1").decode("utf-8", "replace")
    if isinstance(value, list):
        return [decode_py2(x) for x in value]
    if isinstance(value, dict):
        return {decode_py2(k): decode_py2(v) for k, v in value.items()}
    return value


def read_line(process, seconds):
    """The next line of the target's output."""
    unread = getattr(process, "unread", b"")
    end = time.monotonic() + seconds
    while b"\n" not in unread:
        left = end - time.monotonic()
        if left <= 0 or not select.select([process.stdout], [], [], left)[0]:
            raise Fail("the target said nothing in %d s" % seconds)
        more = os.read(process.stdout.fileno(), 1 << 20)
        if not more:
            raise Fail("the target ended with status %s and said: %s"
                       % (process.wait(), process.stderr.read().decode("utf-8", "replace")[-2000:]))
        unread += more
    line, _, process.unread = unread.partition(b"\n")
    return line.decode("utf-8", "replace")


def read_truth(process, version, seconds=120):
    truth = ast.literal_eval(read_line(process, seconds))
    return decode_py2(truth) if version < (3, 0) else truth


# ---- pystill ----

class Result:
    def __init__(self, status, out, err, seconds):
        self.status, self.out, self.err, self.seconds = status, out, err, seconds

    def folded(self):
        """{stack text: count}; a line that is not "text count" is a failure."""
        counts = {}
        for line in self.out.split("\n")[:-1]:
            text, blank, count = line.rpartition(" ")
            if not blank or not count.isdigit() or not text:
                raise Fail("no folded line: %r" % line)
            if text in counts:
                raise Fail("the same stack twice: %r" % line)
            counts[text] = int(count)
        if self.out and not self.out.endswith("\n"):
            raise Fail("the last line has no end")
        return counts

    def stacks(self):
        """{((file, function, line), ...): count} of the real stacks, root first."""
        return {tuple(split_frame(f) for f in text.split(";")): n for text, n in self.folded().items()
                if not text.startswith(("(idle)", "(failed)"))}


def split_frame(text):
    m = re.match(r"(.*):([^:]*):(\d+)$", text, re.S)
    if not m:
        raise Fail("no frame: %r" % text)
    return m[1], m[2], int(m[3])


class Test:
    """What a test function is given."""

    def __init__(self, python):
        self.python = python
        self.tmp = tempfile.mkdtemp(prefix="pystill-test-")
        self.running = []
        self.facts = {}

    def report(self, what, text):
        """A figure for the table of `run.py --table`, one row an interpreter."""
        self.facts[what] = text

    # targets

    def place(self, *names):
        """Copy targets to where the interpreter sees them; returns that folder, as it sees it."""
        root = self.python.root or ""
        folder = tempfile.mkdtemp(prefix="pystill-", dir=root + "/tmp")
        os.chmod(folder, 0o755)
        for name in names:
            shutil.copy(os.path.join(TARGETS, name), folder)
        self.running.append(lambda: shutil.rmtree(folder, ignore_errors=True))
        return folder[len(root):]

    def start(self, name, *args, env=None, settle=True, **kw):
        """Start a target and wait for its truth."""
        folder = self.place(name, "truth.py")
        environ = dict(os.environ, PYTHONIOENCODING="utf-8", PYTHONDONTWRITEBYTECODE="1", LC_ALL="C.UTF-8",
                       **(env or {}))
        for variable in ("PYTHONPATH", "PYTHONHOME"):
            environ.pop(variable, None)
        process = subprocess.Popen(self.python.start + [folder + "/" + name] + list(args), env=environ,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, **kw)
        target = Target(process, None)
        self.running.append(target.kill)
        target.truth = read_truth(process, self.python.version)
        target.pid = target.truth["pid"]
        if settle:
            target.settle()
        return target

    def spawn(self, words, **kw):
        """Start any program; it is killed at the end."""
        process = subprocess.Popen(words, **kw)
        self.running.append(lambda: (process.kill(), process.wait()))
        return process

    def embed(self, source):
        """Build a target in C that has this Python in it; returns the program."""
        config = os.path.join(os.path.dirname(self.python.start[0]), "python%d.%d-config" % self.python.minor)
        if not os.path.exists(config):
            self.skip("%s is not installed" % os.path.basename(config))
        program = os.path.join(self.tmp, "program")
        flags = subprocess.run([config, "--includes", "--ldflags", "--embed"], stdout=subprocess.PIPE, check=True,
                               universal_newlines=True).stdout.split()
        p = subprocess.run(["cc", "-o", program, os.path.join(TARGETS, source)] + flags, stderr=subprocess.PIPE)
        if p.returncode:
            self.skip("cannot be linked: %s" % p.stderr.decode().strip().split("\n")[-1])
        return program

    # pystill

    def pystill(self, *args, timeout=120, status=0, **kw):
        """Run it; STATUS is what it must end with (None: anything)."""
        begin = time.monotonic()
        kw.setdefault("stdin", subprocess.DEVNULL)
        p = subprocess.run([PYSTILL] + [str(a) for a in args], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                           timeout=timeout, **kw)
        r = Result(p.returncode, p.stdout.decode("utf-8"), p.stderr.decode("utf-8"), time.monotonic() - begin)
        if status is not None and r.status != status:
            raise Fail("status %d instead of %d: %s" % (r.status, status, (r.err or r.out)[-2000:]))
        if "Sanitizer" in r.err or "runtime error" in r.err:
            raise Fail(r.err[-6000:])
        return r

    # assertions

    def equal(self, got, wanted, what=""):
        if got != wanted:
            raise Fail("%s: got %r, wanted %r" % (what or "values differ", got, wanted))

    def true(self, value, what):
        if not value:
            raise Fail(what)

    def contains(self, text, part):
        if part not in text:
            raise Fail("%r is not in %r" % (part, text))

    def same_stack(self, got, wanted, what):
        """Compare two stacks, and name the first frame that differs."""
        for i in range(max(len(got), len(wanted))):
            a = got[i] if i < len(got) else None
            b = wanted[i] if i < len(wanted) else None
            if a != b:
                raise Fail("%s, frame %d of %d: got %r, wanted %r" % (what, i, len(wanted), a, b))

    def skip(self, why):
        raise Skip(why)

    def close(self):
        for undo in reversed(self.running):
            undo()
        shutil.rmtree(self.tmp, ignore_errors=True)


def task_states(pid):
    """The State letter and TracerPid of every thread of PID."""
    states = []
    for tid in os.listdir("/proc/%d/task" % pid):
        with contextlib.suppress(OSError):
            with open("/proc/%d/task/%s/status" % (pid, tid)) as f:
                text = f.read()
            states.append((re.search(r"^State:\s+(\S)", text, re.M)[1],
                           int(re.search(r"^TracerPid:\s+(\d+)", text, re.M)[1])))
    return states


def raise_limits():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4096), hard))
