"""A launched program runs as if we were not there, and is sampled from its first frame to its end."""
import contextlib
import os
import pty
import random
import re
import resource
import shlex
import signal
import subprocess
import sys
import time

from harness import PYSTILL, Fail, can_embed, for_eras, for_pythons, full_only, once, stands_for_its_era, \
    task_states

REAL_TIME = range(34, 43)  # SIGRTMIN to SIGRTMIN+8


class Launched:
    """How to run launched.py, with and without us."""

    def __init__(self, t):
        self.t = t
        self.folder = t.place("launched.py")
        self.reports = 0

    def words(self, *args, python=None):
        return (python or self.t.python.start) + [self.folder + "/launched.py"] + [str(a) for a in args]

    def environ(self, **more):
        """A report of its own for each run."""
        self.reports += 1
        self.report = self.folder + "/report-%d" % self.reports
        self.report_path = (self.t.python.root or "") + self.report
        environ = dict(os.environ, REPORT=self.report, PYTHONDONTWRITEBYTECODE="1", LC_ALL="C.UTF-8", **more)
        for variable in ("PYTHONPATH", "PYTHONHOME"):
            environ.pop(variable, None)
        return environ

    def said(self):
        with contextlib.suppress(FileNotFoundError):
            with open(self.report_path) as f:
                return f.read()
        return ""

    def await_said(self, text, seconds=30):
        end = time.monotonic() + seconds
        while text not in self.said():
            self.t.true(time.monotonic() < end, "the program does not say %r: %r" % (text, self.said()))
            time.sleep(0.005)

    def run(self, *args, options=(), status=0, env=None, **kw):
        return self.t.pystill(*options, "-t", *self.words(*args), env=self.environ(**(env or {})), status=status, **kw)

    def spawn(self, *args, options=(), out=subprocess.DEVNULL, **kw):
        kw.setdefault("stdin", subprocess.DEVNULL)
        return self.t.spawn([PYSTILL] + list(options) + ["-t"] + self.words(*args), env=self.environ(), stdout=out,
                            stderr=subprocess.PIPE, **kw)


def child_of(pid):
    """The process that PID launched."""
    end = time.monotonic() + 10
    while time.monotonic() < end:
        with open("/proc/%d/task/%d/children" % (pid, pid)) as f:
            children = f.read().split()
        if children:
            return int(children[0])
        time.sleep(0.002)
    raise Fail("process %d launched nothing" % pid)


def state_of(pid):
    try:
        with open("/proc/%d/stat" % pid) as f:
            return f.read().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return "gone"


def await_state(t, pid, wanted):
    end = time.monotonic() + 10
    while state_of(pid) not in wanted:
        t.true(time.monotonic() < end, "process %d is in state %s, not %s" % (pid, state_of(pid), wanted))
        time.sleep(0.005)


def await_free(t, pid, what):
    """No thread of PID is stopped or traced, or it has ended (a moment is given to the kernel)."""
    end = time.monotonic() + 5
    while True:
        states = []
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            states = task_states(pid)
        if not any(state in "Tt" or tracer for state, tracer in states):
            return
        t.true(time.monotonic() < end, "%s: threads are left as %r" % (what, states))
        time.sleep(0.01)


def frames_of(r, name):
    return sum(n for stack, n in r.folded().items() if ":%s:" % name in stack)


# ---- its end ----

@for_eras()
def exit_statuses(t):
    program = Launched(t)
    program.run("exit", 0)
    for n in 3, 255:
        t.equal(program.run("exit", n, status=None).status, n)
    r = program.run("raise", status=1)
    t.contains(r.err, "ValueError: on purpose")
    for n in signal.SIGTERM, signal.SIGKILL, signal.SIGSEGV, signal.SIGUSR1, 40:
        t.equal(program.run("kill", int(n), status=None).status, 128 + n, "status after signal %d" % n)


@once
def cannot_be_run(t):
    for words, status, why in ((["/nonexistent/program"], 127, "No such file"), (["no-such-word"], 127, "No such file"),
                               (["/"], 126, "Permission denied"), (["/etc/passwd"], 126, "Permission denied")):
        r = t.pystill("-t", *words, status=status)
        t.equal(r.out, "")
        t.equal(r.err.count("\n"), 1, "lines of %r" % r.err)
        t.contains(r.err, why)
    t.contains(t.pystill("-t", status=1).err, "needs a command")
    t.contains(t.pystill("-t", "-p", 1, "true", status=1).err, "exclude")
    t.contains(t.pystill("--strict", "-p", 1, status=1).err, "-t")


@once
def not_python(t):
    for words, status in ((["true"], 0), (["false"], 1), (["sleep", "0.3"], 0), (["sh", "-c", "exit 5"], 5)):
        r = t.pystill("-t", *words, status=status)
        t.equal(r.out, "")
        t.true(re.fullmatch(r"pystill: process \d+ was not a Python process, so nothing was sampled\n", r.err), r.err)
        t.equal(t.pystill("--strict", "-t", *words, status=1).out, "")


@for_eras()
def short_programs(t):
    """Ending at once is no error, and needs no samples."""
    for _ in range(10):
        r = t.pystill("-r", 0.001, "--max-overhead", 100, "-t", *t.python.start, "-S", "-c", "pass")
        if not t.python.root:  # chroot may be all that there is time to see
            t.equal(r.err, "")


@once
def failing_to_sample(t):
    """The program's fate is its own."""
    program = Launched(t)
    r = program.run("exit", 3, options=["-o", "/nonexistent/file"], status=3)
    t.contains(r.err, "/nonexistent/file")
    t.equal(r.err.count("\n"), 1, r.err)
    program.run("exit", 3, options=["--strict", "-o", "/nonexistent/file"], status=1)
    r = program.run("spin", 1.5, options=["--abi", "313t"])
    t.contains(r.err, "--abi 313t")
    t.contains(program.run("spin", 9, options=["--abi", "999"], status=1).err, "no ABI '999'")


@once
def changes_its_user(t):
    """A program that becomes another user is none that we may not look at, as root, and its status is its own."""
    if os.geteuid() != 0 or not os.path.exists("/usr/bin/python3"):
        t.skip("this needs root, and a Python that every user may run")
    r = t.pystill("-t", "setpriv", "--reuid", "65534", "--clear-groups", "/usr/bin/python3", "-c",
                  "import time; time.sleep(0.5); raise SystemExit(8)", status=8)
    t.equal(r.err, "")


@for_eras()
def daemons(t):
    """The run ends when the launched process does."""
    program = Launched(t)
    r = program.run("daemon", status=6)
    t.true(r.seconds < 5, "%.1f s" % r.seconds)
    t.contains(program.said(), "parent ends")
    program.await_said("daemon ends")


# ---- what is sampled ----

@for_eras()
def from_the_first_frame(t):
    """Work that begins with the first statement is seen, and so is the start itself, unless the machine is too busy."""
    script = os.path.join((t.python.root or "") + t.place(), "first.py")
    with open(script, "w") as f:
        f.write("import time\nend = time.time() + 0.05\nwhile time.time() < end: pass\n")
    inner = script[len(t.python.root or ""):]
    for tries_left in range(4, -1, -1):
        r = t.pystill("-r", 0.001, "--max-overhead", 100, "-t", *t.python.start, inner)
        t.equal(r.err, "")
        seen = sum(n for s, n in r.folded().items() if "first.py:<module>:3" in s or "first.py:?:3" in s)
        # Before 3.0 the start is a matter of a few milliseconds.
        start = t.python.minor < (3, 0) or any(not s[0][0].endswith("first.py") for s in r.stacks())
        if seen > 20 and start:
            return
        t.true(tries_left, "%d samples of the first statement; start seen: %r; %r" % (seen, start, r.out[-2000:]))


@for_eras()
def wrappers(t):
    """Programs that become Python are waited for, those that start it are followed."""
    program = Launched(t)
    line = " ".join(shlex.quote(w) for w in program.words("spin", 1.2))
    for words, is_child in ((["env", "A=1"] + program.words("spin", 1.2), False),
                            (["sh", "-c", "sleep 0.2; exec " + line], False),
                            (["nice", "nohup"] + program.words("spin", 1.2), False),
                            (["sh", "-c", line + "; " + line + "; exit 3"], True)):
        r = t.pystill("-t", *words, env=program.environ(), status=3 if is_child else 0)
        seen = frames_of(r, "spin") + r.folded().get("(failed)", 0)  # on a busy machine threads may stop late
        t.true(seen > 20 * (1 + is_child), "%r: %r" % (words, r.out[-1000:]))
        notes = [line for line in r.err.split("\n") if line and "nohup" not in line]
        t.equal(len(notes), 2 * is_child, "lines: %r" % r.err)
        t.equal(all("its child" in line for line in notes), True, r.err)


@for_eras()
def exec_of_another(t):
    """A program that becomes another Python version: both are sampled, and nothing fails for it."""
    program = Launched(t)
    outer = os.path.join(t.tmp, "outer.py")
    with open(outer, "w") as f:
        f.write("import os, time\ndef before():\n    end = time.time() + 0.9\n    while time.time() < end: pass\n"
                "before()\nos.execvp(%r, %r)\n" % (program.words()[0], program.words("spin", 1.2)))
    r = t.pystill("-t", sys.executable, outer, env=program.environ())
    t.equal(r.err, "")
    for name in "before", "spin":
        t.true(frames_of(r, name) > 15, "%s: %r" % (name, r.out[-1000:]))
    t.true(r.folded().get("(failed)", 0) <= 3, r.out[-1000:])


@for_eras()
def threads_and_children(t):
    program = Launched(t)
    r = program.run("churn", 1.5, options=["-r", "0.001", "--threads", "--max-overhead", "100"],
                    env={"PYTHONWARNINGS": "ignore"})
    t.equal(r.err, "")
    t.contains(program.said(), "done")
    counts = r.folded()
    t.true(counts.get("(failed)", 0) <= 0.05 * sum(counts.values()), "%d failed" % counts.get("(failed)", 0))


@for_eras()
def setuid_with_threads(t):
    """The C library signals every thread for it."""
    program = Launched(t)
    for mode in "auto", "all":
        r = program.run("setuid", options=["-r", "0.001", "--threads", "--stop", mode, "--max-overhead", "100"])
        t.equal(r.err, "")
        t.equal(program.said(), "done\n")


# ---- as if we were not there ----

def odd_circumstances():
    """Circumstances to start a program in."""
    def ignored():
        for n in (signal.SIGINT, signal.SIGQUIT, signal.SIGCHLD, signal.SIGPIPE, signal.SIGHUP, signal.SIGTSTP, 36):
            signal.signal(n, signal.SIG_IGN)

    def blocked():
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM, signal.SIGCHLD, 40})

    def limited():
        resource.setrlimit(resource.RLIMIT_NOFILE, (64, 128))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        os.nice(3)
        os.umask(0o27)

    def closed():
        for n in 0, 1, 2:
            os.close(n)

    return {"plain": lambda: None, "ignored": ignored, "blocked": blocked, "limited": limited, "closed": closed,
            "session": os.setsid}


def with_extra(prepare):
    """PREPARE, and one descriptor more."""
    def run():
        os.dup2(os.open("/etc/passwd", os.O_RDONLY), 15)
        prepare()
    return run


@for_eras()
def inherits_all(t):
    """What it says of itself is the same with and without us."""
    program = Launched(t)
    for name, prepare in odd_circumstances().items():
        said, statuses = [], []
        for before in [], [PYSTILL, "-o", os.path.join(t.tmp, "out"), "-t"]:
            p = subprocess.Popen(before + program.words("mirror"), env=program.environ(A="b"),
                                 preexec_fn=with_extra(prepare),
                                 stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                 restore_signals=False, close_fds=False)
            statuses.append(p.wait(60) % 256)
            said.append(program.said().split("\n"))
        # 3.0 and 3.1 abort without descriptors: by themselves with a signal, and so with us.
        t.equal(statuses[1], statuses[0] if statuses[0] < 200 else 128 + 256 - statuses[0], "status, " + name)
        if name == "session":
            said = [[re.sub(r"group \d+ session \d+", "", line) for line in lines] for lines in said]
        t.true("descriptor 15 /etc/passwd" in "".join(said[0]) or statuses[0], "it said little: %r" % said[0])
        for without, withus in zip(*said):
            t.equal(withus, without, name)
        t.equal(len(said[1]), len(said[0]), name)


@for_eras()
def signals_table(t):
    """Each signal that is sent to it arrives once."""
    program = Launched(t)
    numbers = [signal.SIGUSR1, signal.SIGUSR2, signal.SIGALRM, signal.SIGHUP, signal.SIGQUIT, signal.SIGWINCH,
               signal.SIGIO, signal.SIGINT] + list(REAL_TIME)
    for mode in "auto", "all":
        p = program.spawn("handlers", options=["-r", "0.001", "--threads", "--stop", mode, "--max-overhead", "100"])
        program.await_said("ready")
        pid = child_of(p.pid)
        wanted = "ready\n"
        for n in numbers * 6:
            os.kill(pid, n)
            wanted += "signal %d\n" % n
            program.await_said(wanted)
        os.kill(pid, signal.SIGTERM)
        t.equal(p.wait(30), 9, "status: %r" % p.stderr.read())
        t.equal(program.said(), wanted + "signal 15\n", "signals")


@for_eras()
def children_are_told(t):
    """SIGCHLD comes for every child."""
    program = Launched(t)
    for mode in "auto", "all":
        program.run("children", options=["-r", "0.001", "--threads", "--stop", mode, "--max-overhead", "100"])
        t.equal(program.said(), "children 100\n", "with --stop " + mode)


@for_eras(lambda p: stands_for_its_era(p) and p.minor >= (3, 3))  # where signal has these calls
def signals_that_are_awaited(t):
    """sigwait, sigtimedwait and signalfd take each signal once."""
    program = Launched(t)
    p = program.spawn("waits", options=["-r", "0.001", "--threads", "--max-overhead", "100"])
    program.await_said("ready")
    pid, wanted = child_of(p.pid), "ready\n"
    for n in [signal.SIGUSR1, signal.SIGUSR2, signal.SIGRTMIN + 3] * 20:
        os.kill(pid, n)
        wanted += "signal %d\n" % n
        program.await_said(wanted)
    os.kill(pid, signal.SIGTERM)
    t.equal(p.wait(30), 128 + signal.SIGTERM, "status: %r" % p.stderr.read())
    t.equal(program.said(), wanted, "signals")


@for_pythons(can_embed)
def real_time_signals_in_order(t):
    """Queued signals, with values: all of them, and those of one number in order."""
    import ctypes
    queue = ctypes.CDLL(None, use_errno=True).sigqueue
    count = 9 * 300
    p = t.spawn([PYSTILL, "-o", os.path.join(t.tmp, "out"), "-r", "0.001", "-t", t.embed("signals.c"), str(count)],
                stdout=subprocess.PIPE)
    t.equal(p.stdout.readline(), b"ready\n")
    pid = child_of(p.pid)
    sent = {n: [] for n in REAL_TIME}
    order = list(REAL_TIME) * 300
    random.shuffle(order)
    for i, n in enumerate(order):
        t.equal(queue(pid, n, ctypes.c_void_p(i)), 0, "sigqueue")
        sent[n].append(i)
        if i % 30 == 0:
            time.sleep(0.005)
    got = {n: [] for n in REAL_TIME}
    for line in p.stdout.read().decode().split("\n")[:-1]:
        number, value = line.split()
        got[int(number)].append(int(value))
    t.equal(p.wait(30), 0)
    for n in REAL_TIME:
        t.equal(got[n], sent[n], "values that came with signal %d" % n)


@for_eras(lambda p: stands_for_its_era(p) and p.minor >= (2, 6) and p.minor != (3, 0))  # ctypes that keep errno
def blocked_calls(t):
    """31 threads that stand in a system call each: no call comes back at 1 kHz that would not by itself."""
    program = Launched(t)
    words = t.python.start + [t.place("blocked.py") + "/blocked.py", "2"]
    env = program.environ()
    p = subprocess.run(words, env=env, stderr=subprocess.PIPE, timeout=60)
    if b"ImportError" in p.stderr or b"ModuleNotFoundError" in p.stderr:
        t.skip("it has no ctypes")
    t.equal(p.returncode, 0, p.stderr)
    alone = program.said()
    t.true(alone.startswith("standing 31\n"), alone)
    r = t.pystill("-r", 0.001, "--threads", "--max-overhead", 100, "-t", *words, env=program.environ())
    t.equal(r.err, "")
    t.equal(program.said(), alone, "calls that came back")
    t.true(frames_of(r, "stand") > 31 * 500, "%d stacks of threads that stand" % frames_of(r, "stand"))


@for_eras()
def signals_to_us(t):
    """They are passed on, once; then its end is awaited, and its status is ours."""
    program = Launched(t)
    for n in signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR2, signal.SIGTERM:
        out = os.path.join(t.tmp, "out-%d" % n)
        p = program.spawn("handlers", options=["-o", out])
        program.await_said("ready")
        time.sleep(0.4)  # it may take us so long to see it, built with sanitizers
        p.send_signal(n)
        program.await_said("signal %d\n" % n)
        if n != signal.SIGTERM:
            time.sleep(0.2)
            p.send_signal(signal.SIGTERM)
        t.equal(p.wait(30), 9, "status after signal %d: %r" % (n, p.stderr.read()))
        t.equal(program.said().count("signal"), 1 if n == signal.SIGTERM else 2, program.said())
        t.true(os.path.getsize(out) > 0, "no output after signal %d" % n)


@for_eras()
def interrupted(t):
    """A program that takes two seconds to end after Ctrl-C is waited for, and sampled."""
    program = Launched(t)
    out = os.path.join(t.tmp, "out")
    p = program.spawn("interrupt", options=["-o", out])
    program.await_said("ready")
    time.sleep(0.4)
    p.send_signal(signal.SIGINT)
    t.equal(p.wait(30), 4, "status: %r" % p.stderr.read())
    t.contains(program.said(), "interrupts 1")
    with open(out) as f:
        t.contains(f.read(), ":interrupt:")


@once
def told_twice(t):
    """The second time, a second later, we write and let go."""
    out = os.path.join(t.tmp, "out")
    for n in signal.SIGINT, signal.SIGTERM:
        p = t.spawn([PYSTILL, "-o", out, "-t", sys.executable, "-c",
                     "import signal, time\nfor n in (2, 15): signal.signal(n, signal.SIG_IGN)\n"
                     "print('ready', flush=True)\nwhile True: time.sleep(0.01)"], stdout=subprocess.PIPE)
        t.equal(p.stdout.readline(), b"ready\n")
        pid = child_of(p.pid)
        p.send_signal(n)
        time.sleep(0.3)
        p.send_signal(n)
        time.sleep(0.9)
        t.equal(p.poll(), None, "it ended too early")
        p.send_signal(n)
        t.equal(p.wait(10), 128 + n)
        t.true(os.path.getsize(out) > 0, "no output")
        t.true(state_of(pid) in "RS", "the program is in state %s" % state_of(pid))
        os.kill(pid, signal.SIGKILL)


@once
def nohup(t):
    """A SIGHUP that was ignored at the start stays so, for both."""
    program = Launched(t)
    p = program.spawn("spin", 1, preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN))
    time.sleep(0.3)
    p.send_signal(signal.SIGHUP)
    os.kill(child_of(p.pid), signal.SIGHUP)
    time.sleep(1.2)
    t.equal(p.wait(10), 0)


# ---- terminal and job control ----

SHELL = r"""
import os, signal, sys
# A session leader that runs one job in the foreground and says each time that the job changes.
signal.signal(signal.SIGTTOU, signal.SIG_IGN)
job = os.fork()
if job == 0:
    os.setpgid(0, 0)
    if "BACKGROUND" not in os.environ:
        os.tcsetpgrp(0, os.getpgrp())
    signal.signal(signal.SIGTTOU, signal.SIG_DFL)
    os.execvp(sys.argv[2], sys.argv[2:])
report = open(sys.argv[1], "a", buffering=1)
report.write("job %d\n" % job)
while True:
    pid, status = os.waitpid(job, os.WUNTRACED | os.WCONTINUED)
    if os.WIFSTOPPED(status):
        report.write("stopped %d\n" % os.WSTOPSIG(status))
    elif os.WIFCONTINUED(status):
        report.write("continued\n")
    else:
        report.write("ended %d\n" % os.waitstatus_to_exitcode(status))
        break
"""


class Terminal:
    """A job in a terminal of its own, under a small shell."""

    def __init__(self, t, words, env):
        self.t = t
        self.report = os.path.join(t.tmp, "shell-%d" % random.getrandbits(32))
        open(self.report, "w").close()
        pid, self.fd = pty.fork()
        if pid == 0:
            os.execve(sys.executable, [sys.executable, "-c", SHELL, self.report] + words, env)
        t.running.append(lambda: (os.kill(pid, signal.SIGKILL), os.close(self.fd), os.waitpid(pid, 0)))
        self.job = int(self.await_report("job ").split()[1])

    def await_report(self, text):
        end = time.monotonic() + 20
        while True:
            with open(self.report) as f:
                said = f.read()
            if text in said:
                return said
            self.t.true(time.monotonic() < end, "the shell does not say %r: %r" % (text, said))
            time.sleep(0.01)

    def type(self, text):
        os.write(self.fd, text)


def press(t, program, mode, options=(), **kw):
    return Terminal(t, [PYSTILL, "-o", os.path.join(t.tmp, "out")] + list(options) + ["-t"] + program.words(*mode),
                    program.environ(), **kw)


@for_eras()
def ctrl_z(t):
    """Ctrl-Z stops both, SIGCONT lets both go on."""
    program = Launched(t)
    terminal = press(t, program, ["stop", 0], ["-r", "0.001"])
    program.await_said("ready")
    child = child_of(terminal.job)
    terminal.type(b"\x1a")
    terminal.await_report("stopped %d" % signal.SIGTSTP)
    await_state(t, child, "T")
    t.equal(state_of(terminal.job), "T")
    time.sleep(0.2)
    os.killpg(terminal.job, signal.SIGCONT)
    terminal.await_report("continued")
    terminal.await_report("ended 0")
    t.contains(program.said(), "done")


@once
def stops_alone(t):
    """A program that stops itself after Ctrl-Z stops the job; one that ignores it goes on; one that someone stops by
    itself leaves us running."""
    program = Launched(t)
    terminal = press(t, program, ["stop", 0])
    program.await_said("ready")
    child = child_of(terminal.job)
    os.kill(child, signal.SIGSTOP)
    await_state(t, child, "T")
    time.sleep(0.3)
    t.true(state_of(terminal.job) in "RS", "we are in state %s" % state_of(terminal.job))
    os.kill(child, signal.SIGCONT)
    terminal.await_report("ended 0")
    for code, stops in (("signal.signal(20, lambda *a: os.kill(os.getpid(), 19))", True),
                        ("signal.signal(20, signal.SIG_IGN)", False)):
        script = "import os, signal, time\n%s\nopen(os.environ['REPORT'], 'w').write('ready')\n" \
                 "end = time.time() + 1.5\n" \
                 "while time.time() < end: pass" % code
        env = program.environ()
        terminal = Terminal(t, [PYSTILL, "-o", "/dev/null", "-t", sys.executable, "-c", script], env)
        program.await_said("ready")
        terminal.type(b"\x1a")
        if stops:
            terminal.await_report("stopped %d" % signal.SIGSTOP)
            os.killpg(terminal.job, signal.SIGCONT)
        terminal.await_report("ended 0")
        with open(terminal.report) as f:
            t.equal("stopped" in f.read(), stops)


@for_eras()
def ctrl_c(t):
    """Ctrl-C reaches the program once, by the terminal."""
    program = Launched(t)
    terminal = press(t, program, ["interrupt"])
    program.await_said("ready")
    time.sleep(0.1)
    terminal.type(b"\x03")
    terminal.await_report("ended 4")
    t.contains(program.said(), "interrupts 1")
    t.true(os.path.getsize(os.path.join(t.tmp, "out")) > 0, "no output")


@once
def reads_in_the_background(t):
    """A program that reads from the terminal in the background stops the job, as by itself."""
    terminal = Terminal(t, [PYSTILL, "-o", "/dev/null", "-t", sys.executable, "-c", "import os; os.read(0, 1)"],
                        Launched(t).environ(BACKGROUND="1"))
    terminal.await_report("stopped %d" % signal.SIGTTIN)


# ---- other launchers ----

@once
def under_sudo(t):
    """The caller's identity, from what sudo says, unless --as-root."""
    if os.geteuid() != 0:
        t.skip("this needs root")
    program = Launched(t)
    os.chmod((t.python.root or "") + program.folder, 0o777)
    sudo = {"SUDO_UID": "65534", "SUDO_GID": "65534", "SUDO_USER": "nobody"}
    system = "/usr/bin/python3"
    if not os.path.exists(system):
        t.skip("no %s, which every user may run" % system)
    def identity(*options):
        env = program.environ(**sudo)
        r = t.pystill(*options, "-t", system, program.folder + "/launched.py", "identity", env=env)
        t.equal(r.err, "")
        return program.said()
    t.equal(identity(), "uid 65534 65534 gid 65534 65534\ngroups [65534]\n/nonexistent nobody nobody\n")
    t.true(identity("--as-root").startswith("uid 0 0 gid 0 0\n"), program.said())
    sudo["SUDO_UID"] = "x"
    t.contains(t.pystill("-t", "true", env=dict(os.environ, **sudo), status=1).err, "SUDO_UID")


@once
def harnesses(t):
    """Under other programs that start programs."""
    program = Launched(t)
    me = [PYSTILL, "-o", os.path.join(t.tmp, "out"), "-t"]
    spin = program.words("spin", 0.2)
    line = " ".join(shlex.quote(w) for w in me + spin)
    makefile = os.path.join(t.tmp, "Makefile")
    with open(makefile, "w") as f:
        f.write("all: a b\na b:\n\t+%s\n" % line.replace("$", "$$").replace("/out ", "/out-$@ "))
    for words, status in ((["timeout", "20"] + me + spin, 0),
                          (["timeout", "0.5"] + me + program.words("spin", 20), 124),
                          (["xargs", "-n", "1"] + me + program.words("spin"), 0),
                          (["make", "-s", "-j2", "-f", makefile], 0), (["nohup"] + me + spin, 0),
                          (["setsid", "-w"] + me + spin, 0), (["sh", "-c", line + " <&- >&- 2>&-"], 0),
                          (me + [sys.executable, "-m", "unittest", "--help"], 0)):
        p = subprocess.run(words, env=program.environ(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, input=b"0.2\n",
                           timeout=60)
        t.equal(p.returncode, status, "%r: %r" % (words, p.stderr))
        t.true(os.path.exists(os.path.join(t.tmp, "out")) or "make" in words, "no output of %r" % words)


@once
def full_pipe(t):
    """A reader that does not read holds up the program as it would by itself, and nothing else."""
    p = t.spawn([PYSTILL, "-o", os.path.join(t.tmp, "out"), "-t", sys.executable, "-c",
                 "import sys\nfor i in range(200000): print('line', i)"], stdout=subprocess.PIPE)
    time.sleep(0.5)
    t.equal(p.poll(), None, "it ended before its output was read")
    t.equal(len(p.stdout.read().split(b"\n")), 200001, "lines")
    t.equal(p.wait(20), 0)
    p = t.spawn([PYSTILL, "-t", sys.executable, "-c", "import time; time.sleep(0.3)"], stdout=subprocess.PIPE)
    p.stdout.close()
    t.equal(p.wait(20), 0, "the program's status")


def run_tests(t, words):
    folder = t.place()
    with open(folder + "/test_it.py", "w") as f:
        f.write("import time, unittest\nclass T(unittest.TestCase):\n    def test_it(self):\n"
                "        end = time.time() + 0.4\n        while time.time() < end: pass\n"
                "    def test_bad(self):\n        self.fail()\n")
    r = t.pystill("-o", os.path.join(t.tmp, "out"), "-t", *words, cwd=folder, status=1)
    t.contains(r.out + r.err, "test_bad")
    with open(os.path.join(t.tmp, "out")) as f:
        t.contains(f.read(), "test_it")


@once
def unittest_and_pytest(t):
    run_tests(t, [sys.executable, "-m", "unittest", "test_it"])
    if subprocess.run([sys.executable, "-c", "import pytest"], stderr=subprocess.DEVNULL).returncode:
        t.skip("pytest is not installed")
    run_tests(t, [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "test_it.py"])


# ---- nothing is left ----

def rounds(t, count):
    program = Launched(t)
    for i in range(count):
        mode = random.choice((["spin", "0.4"], ["churn", "0.3"], ["handlers"]))
        options = random.choice((["-r", "0.001"], ["-r", "0.0005", "--threads"],
                                 ["-r", "0.001", "--threads", "--stop", "all"])) + ["--max-overhead", "100"]
        p = program.spawn(*mode, options=options, start_new_session=True)
        time.sleep(random.uniform(0, 0.25))
        try:
            child = int(open("/proc/%d/task/%d/children" % (p.pid, p.pid)).read().split()[0])
        except (IndexError, FileNotFoundError, ProcessLookupError):
            child = 0
        victims = random.choice(((p.pid,), (child,), (p.pid, child), (child, p.pid)))
        for victim in victims:
            if victim:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(victim, signal.SIGKILL)
        if child and child not in victims:  # ours was killed: the program goes on, free
            await_free(t, child, "round %d" % i)
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
        elif p.pid not in victims and not child:
            p.kill()
        try:
            p.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            raise Fail("round %d: %r of %r hangs" % (i, options, mode))
        if child:
            await_state(t, child, ("gone", "Z"))


@once
def killed(t):
    rounds(t, 40)


@full_only
@once
def killed_500_rounds(t):
    rounds(t, 500)
