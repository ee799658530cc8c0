"""Bad input: one clear line on stderr, nothing on stdout, the documented status."""
import json
import os
import re
import shutil
import signal
import subprocess
import time

from harness import PYSTILL, for_pythons, once


def fails(t, *args, status=1, words=(), silent=True, **kw):
    """Run pystill, which must fail with one line that holds WORDS, and nothing on its output if SILENT."""
    r = t.pystill(*args, status=None, **kw)
    what = "pystill " + " ".join(str(a) for a in args)
    t.equal(r.status, status, what + ": status (%s)" % r.err)
    if silent:
        t.equal(r.out, "", what + ": standard output")
    t.true(re.match(r"(pystill|pyflame): [^\n]+\n$", r.err), "%s: not one line: %r" % (what, r.err))
    for word in words:
        t.contains(r.err, str(word))
    return r


@once
def command_line(t):
    pid = os.getpid()
    for args, words in (
            ([], ["no process", "-p PID"]),
            (["-p"], ["-p", "needs a value"]),
            (["-p", "x"], ["'x'", "pid"]),
            (["-p", "0"], ["'0'"]),
            (["-p", "-3"], ["'-3'"]),
            (["-p", "99999999999"], ["99999999999"]),
            (["-p", pid, "-s", "soon"], ["--seconds", "soon"]),
            (["-p", pid, "-s", "-1"], ["--seconds", "-1"]),
            (["-p", pid, "-s", "nan"], ["nan"]),
            (["-p", pid, "-r", "0"], ["--rate"]),
            (["-p", pid, "--stop", "some"], ["--stop", "auto, all, none"]),
            (["-p", pid, "--errors", "xml"], ["--errors", "text, json"]),
            (["-p", pid, "--frobnicate"], ["--frobnicate"]),
            (["-p", pid, "-Z"], ["-Z"]),
            (["-p", pid, "--threads=3"], ["--threads=3"]),
            (["-p", pid, "more"], ["more"]),
            (["-t"], ["-t", "command"]),
            (["-t", "-p", pid, "python3"], ["-p", "-t"]),
            (["-t", "-d", "python3"], ["--dump"]),
            (["--strict", "-p", pid], ["--strict"]),
            (["-p", pid, "--abi", "99"], ["'99'"]),
            (["--flamechart", "-d", "-p", pid], ["--flamechart"]),
            (["word"], ["'word'"])):
        fails(t, *args, words=words)


@once
def verbs_that_are_not_built_yet(t):
    for verb in "record", "rec", "r", "top", "t", "dump", "d", "convert", "diff", "doctor", "completions":
        fails(t, verb, "-p", 1, status=2, words=["does not have"])


@once
def json_errors(t):
    for args, status, cause in ((["-p", "x"], 1, "usage"), (["-p", 2 ** 22 + 7], 1, "gone"), (["record"], 2, "usage")):
        r = t.pystill(*args, "--errors=json", status=status)
        t.equal(r.out, "")
        e = json.loads(r.err)
        t.equal((e["status"], e["cause"]), (status, cause))
        t.true(len(e["message"]) > 10, "message: %r" % e)
        t.equal(set(e), {"message", "status", "cause"})


@once
def version_and_help(t):
    r = t.pystill("-v")
    t.true(re.match(r"pystill \d+\.\d+\.\d+ \(ABI list: 23 24 25 26 27 30 [0-9t ]*315 315t\)\n$", r.out), r.out)
    r = t.pystill("-h")
    for word in ("-p, --pid PID", "--stop MODE", "--no-jitter", "--errors FORM"):
        t.contains(r.out, word)
    for word in ("--every", "record"):
        t.true(word not in r.out, "help lists %s" % word)
    t.equal(r.err, "")


@once
def called_pyflame(t):
    """By that name there are no verbs."""
    link = os.path.join(t.tmp, "pyflame")
    os.symlink(shutil.which(PYSTILL), link)
    p = subprocess.run([link, "record"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    t.equal(p.returncode, 1)
    t.true(p.stderr.startswith(b"pyflame: 'record' is neither"), p.stderr)


@once
def no_such_process(t):
    p = subprocess.Popen(["true"])
    p.wait()
    fails(t, "-p", p.pid, words=["no process", p.pid])
    fails(t, p.pid, words=["no process", p.pid])


@once
def odd_processes(t):
    """Each its own line: a zombie, a kernel thread, our own parent's thread, init, a program that is not Python."""
    zombie = subprocess.Popen(["true"])
    time.sleep(0.2)
    fails(t, "-p", zombie.pid, words=["zombie", zombie.pid])
    zombie.wait()
    kernel_thread = 2
    with open("/proc/2/comm") as f:
        if f.read().strip() == "kthreadd" and os.geteuid() == 0:
            fails(t, "-p", kernel_thread, words=["kernel thread"])
    sleep = t.spawn(["sleep", "60"])
    time.sleep(0.1)
    fails(t, "-p", sleep.pid, words=["sleep", "not a Python process"])


@once
def itself(t):
    p = subprocess.run(["sh", "-c", "exec %s -p $$" % shutil.which(PYSTILL)], stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE)
    t.equal(p.returncode, 1)
    t.contains(p.stderr.decode(), "pystill itself")


@once
def a_thread_id(t):
    target = t.start("worker.py", os.path.join(t.tmp, "c"), "plain", settle=False)
    tid = [x for x in os.listdir("/proc/%d/task" % target.pid) if int(x) != target.pid][0]
    fails(t, "-p", tid, words=["thread of process %d" % target.pid])


@once
def a_wrapper(t):
    """The pid of a shell whose child is Python: the child is named."""
    script = os.path.join(t.place("worker.py", "truth.py"), "worker.py")
    sh = t.spawn(["sh", "-c", "%s %s %s; true" % (t.python.start[0], script, os.path.join(t.tmp, "c"))],
                 stdout=subprocess.PIPE)
    sh.stdout.readline()
    with open("/proc/%d/task/%d/children" % (sh.pid, sh.pid)) as f:
        child = f.read().split()[0]
    t.running.append(lambda: os.kill(int(child), signal.SIGKILL))
    fails(t, "-p", sh.pid, words=["not a Python process", "child process %s is one" % child])
    t.true(t.pystill("-p", child, "-s", 0.1).out, "the child that was named cannot be sampled")


@for_pythons(lambda python: python.unsupported())
def unknown_versions(t):
    target = t.start("sleeper.py", settle=False)
    r = fails(t, "-p", target.pid, words=[target.pid])
    t.true("Python" in r.err and ("cannot read" in r.err or "does not look" in r.err), r.err)


FAKE_MODES = ("zeros", "garbage", "huge", "large", "plausible", "version-9.9", "version-3.99", "no-cookie",
              "wrong-place", "end")


@once
def fake_pythons(t):
    """Programs that have what a Python has, with nonsense in it: one clear line, soon."""
    if not shutil.which("cc"):
        t.skip("there is no C compiler")
    source = os.path.join(os.path.dirname(__file__), "..", "targets", "fake.c")
    for symbol in "_PyRuntime", "interp_head", "some_data":
        program = os.path.join(t.tmp, symbol)
        subprocess.run(["cc", "-rdynamic", "-DSYMBOL=" + symbol, "-o", program, source], check=True)
        for mode in FAKE_MODES:
            fake = t.spawn([program, mode], stdout=subprocess.PIPE)
            fake.stdout.readline()
            r = fails(t, "-p", fake.pid, "-s", 1, words=[fake.pid])
            t.true(r.seconds < 5, "%s %s took %.1f s" % (symbol, mode, r.seconds))
            fake.kill()
            fake.wait()


@once
def other_users(t):
    """A process of another user, seen as an ordinary user."""
    if os.geteuid() != 0:
        t.skip("only root can change to another user")
    target = t.start("worker.py", os.path.join(t.tmp, "c"), "plain", settle=False)
    program = os.path.join(t.tmp, "pystill")
    shutil.copy(shutil.which(PYSTILL), program)
    os.chmod(t.tmp, 0o755)
    p = subprocess.run([program, "-p", str(target.pid), "--errors=json"], stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE, preexec_fn=lambda: (os.setgroups([]), os.setgid(65534),
                                                                   os.setuid(65534)))
    e = json.loads(p.stderr)
    t.equal((p.returncode, e["cause"], p.stdout), (1, "permission", b""))
    t.contains(e["message"], "another user")


@once
def traced_by_a_debugger(t):
    """Another tracer: what can be had without a stop is had, and the error names the way."""
    if not shutil.which("strace"):
        t.skip("strace is not installed")
    target = t.start("worker.py", os.path.join(t.tmp, "c"), "plain", settle=False)
    strace = t.spawn(["strace", "-f", "-q", "-e", "trace=none", "-o", "/dev/null", "-p", str(target.pid)])
    time.sleep(1)
    t.equal(strace.poll(), None, "strace")
    for options in (["--threads"], ["--stop", "all"]):
        fails(t, "-p", target.pid, "-s", 1, *options, words=["traces it already", "--stop none"],
              silent=False)  # what could be read without a stop until then is written
    r = t.pystill("-p", target.pid, "-s", 0.5, "--stop", "none")
    t.true(r.stacks(), "no stacks without stops")
    strace.send_signal(signal.SIGINT)
    strace.wait()


@once
def outputs_that_cannot_be_written(t):
    target = t.start("worker.py", os.path.join(t.tmp, "c"), "plain", settle=False)
    fails(t, "-p", target.pid, "-s", 0, "-o", "/nowhere/out", words=["/nowhere/out"])
    fails(t, "-p", target.pid, "-s", 0, "-o", t.tmp, words=[t.tmp])
    full = os.path.join(t.tmp, "full")  # a link: were it replaced by mistake, the machine would keep its own
    os.symlink("/dev/full", full)
    fails(t, "-p", target.pid, "-s", 0, "-o", full, words=[full, "No space"])
    with open("/dev/full", "w") as full:
        p = subprocess.run([PYSTILL, "-p", str(target.pid), "-s", "0"], stdout=full, stderr=subprocess.PIPE)
    t.equal(p.returncode, 1)
    t.contains(p.stderr.decode(), "standard output")


@once
def closed_descriptors(t):
    """As cron may start it: no descriptor 0, 1 or 2.  What cannot be written is an error, never lost."""
    target = t.start("worker.py", os.path.join(t.tmp, "c"), "plain", settle=False)
    out = os.path.join(t.tmp, "out")

    def close():
        for fd in 0, 1, 2:
            os.close(fd)
    p = subprocess.run([PYSTILL, "-p", str(target.pid), "-s", "0.2", "-o", out], preexec_fn=close)
    t.equal(p.returncode, 0)
    t.true(os.path.getsize(out) > 0, "no output")
    p = subprocess.run([PYSTILL, "-p", str(target.pid), "-s", "0"], stderr=subprocess.PIPE,
                       preexec_fn=lambda: os.close(1))
    t.equal(p.returncode, 1)
    t.contains(p.stderr.decode(), "standard output")


@once
def closed_pipe(t):
    """Whoever read our output went away: status 1, and no news on stderr."""
    target = t.start("worker.py", os.path.join(t.tmp, "c"), "plain", settle=False)
    r, w = os.pipe()
    os.close(r)
    p = subprocess.run([PYSTILL, "-p", str(target.pid), "-s", "0"], stdout=w, stderr=subprocess.PIPE)
    os.close(w)
    t.equal((p.returncode, p.stderr), (1, b""))


@once
def output_file_appears_complete(t):
    target = t.start("worker.py", os.path.join(t.tmp, "c"), "plain", settle=False)
    folder = os.path.join(t.tmp, "folder")
    os.mkdir(folder)
    out = os.path.join(folder, "out")
    with open(out, "w") as f:
        f.write("old\n")
    p = t.spawn([PYSTILL, "-p", str(target.pid), "-s", "60", "-o", out])
    time.sleep(0.5)
    with open(out) as f:
        t.equal(f.read(), "old\n", "the old file while sampling")
    p.send_signal(signal.SIGINT)
    t.equal(p.wait(10), 0)
    t.equal(os.listdir(folder), ["out"], "files")
    with open(out) as f:
        t.contains(f.read(), "worker.py:count:")
    t.equal(os.stat(out).st_mode & 0o777, 0o666 & ~current_umask(), "rights of the file")


def current_umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


@for_pythons()
def forced_abi(t):
    """--abi forces the row, and says so when the process contradicts."""
    target = t.start("worker.py", t.place() + "/c", "plain", settle=False)
    r = t.pystill("-p", target.pid, "-s", 0.2, "--abi", t.python.abi)
    t.equal(r.err, "")
    t.true(r.stacks(), "no stacks")
    r = t.pystill("-p", target.pid, "-s", 0, "--abi", "99", status=None)
    t.equal(r.status, 1)
    t.contains(r.err, "no ABI '99'")


@once
def contradicted_abi(t):
    target = t.start("worker.py", os.path.join(t.tmp, "c"), "plain", settle=False)
    fails(t, "-p", target.pid, "-s", 0, "--abi", "36", words=[target.pid])
    neighbour = {(3, 11): "312", (3, 12): "311", (3, 9): "310"}.get(t.python.minor)
    if neighbour:
        r = t.pystill("-p", target.pid, "-s", 0, "--abi", neighbour, status=None)
        t.contains(r.err, "--abi " + neighbour)
