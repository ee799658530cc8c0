"""The profilers: how each is run, what it prints, and what one run of it costs."""
import collections
import contextlib
import math
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time

from host import Skip, cpu_of, folders, kill, peak_kb, popen, run_counts

CACHE = os.environ.get("PYSTILL_CACHE") or os.path.join(
    os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "pystill")
VENV = os.path.join(CACHE, "bench")
NEW = (3, 15)  # the first with profiling.sampling
LEAD = 0.4     # seconds that a tool gets to start, before its window begins

class Outcome:
    """One run: counts, and what it cost."""

    def __init__(self):
        self.stacks = self.failed = self.idle = 0
        self.unproved = None
        self.counts = collections.Counter()  # folded text: stacks
        self.seconds = self.cpu = self.rss = self.wakeups = math.nan
        self.window = (0, 0)
        self.stats = ""
        self.grown = 0

    @property
    def rate(self):
        return self.stacks / self.seconds


class Tool:
    """A profiler in one mode."""
    name, exact = "", False

    def missing(self, python):
        return None

    def fold(self, o, text):
        for line in text.split("\n"):
            stack, _, count = line.rpartition(" ")
            if stack and count.isdigit():
                o.counts[stack] += int(count)
        o.stacks = sum(o.counts.values())

    def frames(self, text):
        """[(file, function, line)], root first."""
        frames = [f.rsplit(":", 2) for f in text.split(";")]
        return [(os.path.basename(f[0]), f[1], int(f[2])) for f in frames if len(f) == 3 and f[2].isdigit()]


def found(program):
    own = os.path.join(VENV, "bin", program)
    return own if os.path.exists(own) else shutil.which(program)


class Pystill(Tool):
    exact = True

    def __init__(self, program, *options, name="pystill"):
        self.name, self.options, self.program = name, options, program
        text = subprocess.run([program, "-h"], stdout=subprocess.PIPE, text=True).stdout
        self.known = [o for o in ("--max-overhead", "--stats") if o in text]

    def words(self, t, rate, seconds, out):
        more = ["--max-overhead", "100"] if "--max-overhead" in self.known else []
        more += ["--stats"] if "--stats" in self.known else []
        more += ["--threads"] if t.threads > 1 else []
        return [self.program, "-p", str(t.pid), "-s", "%g" % seconds, "-r", "%.9f" % (1.0 / rate), "-o", out] + \
            more + list(self.options)

    def read(self, o, t, out, err, asked):
        self.fold(o, out.decode("utf-8", "replace"))
        o.failed, o.idle = o.counts.pop("(failed)", 0), o.counts.pop("(idle)", 0)
        o.stacks, o.seconds, o.stats = sum(o.counts.values()), asked, err.strip()
        unproved = re.search(r"(\d+)(?: of \d+ stacks are)? unproved|unproved[=: ]+(\d+)", err)
        if unproved or "--stats" in self.known:
            o.unproved = int(unproved[1] or unproved[2]) if unproved else 0

    def one_shot(self, t):
        return [self.program, "-p", str(t.pid), "-s", "0"] + (["--threads"] if t.threads > 1 else [])


class PySpy(Tool):
    def __init__(self, *options, name="py-spy"):
        self.name, self.options, self.exact = name, options, not options

    def missing(self, python):
        if not found("py-spy"):
            return "py-spy is not installed (utils/bench --setup)"
        return None

    def words(self, t, rate, seconds, out):
        # Its -d is not kept when it falls behind: it is interrupted instead.
        return [found("py-spy"), "record", "-i", "-r", str(min(rate, 100000)), "-d", "36000", "-f", "raw", "-o", out,
                "-p", str(t.pid)] + list(self.options)

    interrupted = True

    def read(self, o, t, out, err, asked):
        self.fold(o, out.decode("utf-8", "replace"))

    def frames(self, text):
        found_all = [re.match(r"(.*) \((.*):(\d+)\)$", f) for f in text.split(";")]
        return [(os.path.basename(m[2]), m[1].split(".")[-1], int(m[3])) for m in found_all if m]

    def one_shot(self, t):
        return [found("py-spy"), "dump", "-p", str(t.pid)]


class Austin(Tool):
    def __init__(self, *options, name="austin"):
        self.name, self.options = name, options

    def missing(self, python):
        return None if found("austin") else "austin 3.7.0 is not installed (utils/bench --setup)"

    def words(self, t, rate, seconds, out):
        return [found("austin"), "-i", str(max(1, int(1e6 / rate))), "-x", str(math.ceil(seconds)), "-o", out,
                "-p", str(t.pid)] + list(self.options)

    def read(self, o, t, out, err, asked):
        duration = re.search(rb"duration(?:: |\0)(\d+)", out[-4000:])
        rate = re.search(r"Error rate.*?(\d+)/(\d+)", err)
        if not duration or not rate:
            raise Skip("austin: %s" % last_line(err))
        o.seconds, o.failed, o.stacks = int(duration[1]) / 1e6, int(rate[1]), int(rate[2]) - int(rate[1])
        if "-b" not in self.options and len(out) < 1 << 27:
            for line in out.decode("utf-8", "replace").split("\n"):
                if line.startswith("P"):
                    o.counts[line.rpartition(" ")[0]] += 1

    def one_shot(self, t):
        return [found("austin"), "-w", str(t.pid)]


class Tachyon(Tool):
    def __init__(self, *options, name):
        self.name, self.options = name, options
        self.exact = "--blocking" in options

    def missing(self, python):
        return None if python.minor >= NEW else "profiling.sampling reads its own version only, from 3.15 on"

    def python(self, t):
        inside = ["nsenter", "-t", str(t.pid), "-m", "-r", "-w", "--"] if t.python.root else []
        return inside + t.python.start[2 if t.python.root else 0:] + ["-m", "profiling.sampling"]

    def words(self, t, rate, seconds, out):
        whole = str(max(1, int(seconds)))  # it takes no others
        return self.python(t) + ["attach", "-r", str(rate), "-d", whole, "-a", "-o", t.shown + "/out", *self.options,
                                 str(t.pid)]

    def read(self, o, t, out, err, asked):
        captured = re.search(r"Captured ([\d,]+) samples in ([\d.]+) seconds", err)
        if not captured:
            raise Skip("%s: %s" % (self.name, last_line(err)))
        o.seconds = float(captured[2])
        path = t.folder + "/out"
        written = re.search(r"written to .* \((\d+) samples\)", err)
        if written:
            o.stacks = int(written[1])
        else:
            self.fold(o, open(path, errors="replace").read())
        lost = re.search(r"Error rate: ([\d.]+)", err)
        if lost and float(lost[1]):
            o.failed = int(o.stacks * float(lost[1]) / max(1.0, 100 - float(lost[1])))
        with contextlib.suppress(OSError):
            os.unlink(path)

    def frames(self, text):
        return [f for f in super().frames(text) if not f[1].startswith("<GC")]

    def one_shot(self, t):
        return self.python(t) + ["dump"] + (["-a"] if t.threads > 1 else []) + [str(t.pid)]


class Pystack(Tool):
    name = "pystack"

    def missing(self, python):
        return None if found("pystack") else "pystack is not installed (utils/bench --setup)"

    def one_shot(self, t):
        return [found("pystack"), "remote", str(t.pid)]


class Nothing(Tool):
    name = "none"


def last_line(text):
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    return lines[-1] if lines else "it said nothing"


def measure(tool, t, rate, seconds):
    """Run TOOL once on T; the window of SECONDS begins when it has had time to start."""
    o = Outcome()
    asked = seconds + LEAD + 0.05
    if tool.name == "none":
        begin = time.perf_counter()
        time.sleep(seconds)
        o.window = (begin, time.perf_counter())
        return o
    folder = tempfile.mkdtemp(prefix="pystill-bench-")
    folders.append(folder)
    err_path, out_path = folder + "/err", folder + "/out"
    with open(err_path, "wb") as err:
        p = popen(tool.words(t, rate, asked, out_path), stdout=err, stderr=err)
    begin = first = time.perf_counter()
    while time.perf_counter() < begin + LEAD:
        time.sleep(0.005 if first == begin else 0.05)
        if first == begin and os.path.getsize(err_path):
            first = time.perf_counter()
    watch(o, p.pid, t, seconds)
    if getattr(tool, "interrupted", False):
        os.kill(p.pid, signal.SIGINT)
        o.seconds = time.perf_counter() - first
    try:
        status = p.wait(timeout=asked * 3 + 60)
    except subprocess.TimeoutExpired:
        kill(p)
        raise Skip("%s did not end" % tool.name)
    kill(p)
    said = open(err_path, errors="replace").read()
    out = open(out_path, "rb").read() if os.path.exists(out_path) else b""
    shutil.rmtree(folder, ignore_errors=True)
    folders.remove(folder)
    if status and not out:
        raise Skip("%s on %s: %s" % (tool.name, t.python.name, last_line(said)))
    tool.read(o, t, out, said, asked)
    return o


def watch(o, pid, t, seconds):
    """CPU, memory and sleepers, from here on for SECONDS."""
    woken, cpu, begin = run_counts(t.pid) if t.threads > 1 else {}, cpu_of(pid), time.perf_counter()
    early = 0
    while time.perf_counter() < begin + seconds:
        time.sleep(min(0.25, max(0.001, begin + seconds - time.perf_counter())))
        o.rss = max(0 if math.isnan(o.rss) else o.rss, peak_kb(pid))
        if time.perf_counter() < begin + seconds / 4:
            early = o.rss
    end = time.perf_counter()
    o.window, o.cpu, o.grown = (begin, end), (cpu_of(pid) - cpu) / (end - begin) * 100, o.rss - early
    after = run_counts(t.pid) if t.threads > 1 else {}
    o.wakeups = sum(after[k] - woken[k] for k in after if k in woken)
