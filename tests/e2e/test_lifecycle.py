"""The target is sacred: it goes on working, whatever happens to it or to us."""
import os
import random
import shutil
import signal
import struct
import subprocess
import time

from harness import PYSTILL, for_pythons, full_only, once, task_states


def worker(t, mode="plain"):
    """Start worker.py; returns (target, path of its counters as we see it)."""
    folder = t.place()
    path = (t.python.root or "") + folder + "/counters"
    return t.start("worker.py", folder + "/counters", mode, settle=False), path


def counters(path):
    with open(path, "rb") as f:
        return struct.unpack("QQ", f.read(16))


def goes_on(t, path, what):
    before = counters(path)[0]
    end = time.monotonic() + 5
    while counters(path)[0] == before:
        t.true(time.monotonic() < end, what + ": the target's work does not go on")
        time.sleep(0.005)


def is_free(t, target, what):
    """No thread of the target is stopped or traced (a moment is given to the kernel)."""
    for _ in range(100):
        states = task_states(target.pid)
        if states and not any(state in "Tt" or tracer for state, tracer in states):
            return
        time.sleep(0.01)
    t.true(False, "%s: threads are left as %r" % (what, states))


def run_and_kill(t, target, path, rounds, options):
    for i in range(rounds):
        p = subprocess.Popen([PYSTILL, "-p", str(target.pid), "-s", "10"] + options, stdout=subprocess.DEVNULL,
                             stderr=subprocess.PIPE)
        time.sleep(random.uniform(0.0, 0.06))
        p.kill()
        p.communicate()
        is_free(t, target, "round %d of %r" % (i, options))
        goes_on(t, path, "round %d of %r" % (i, options))


KILL_MODES = [options + ["--max-overhead", "100"] for options in (
    ["-r", "0.0002"], ["-r", "0.0005", "--threads"], ["-r", "0.001", "--stop", "all", "--threads"])]


@once
def killed_profiler(t):
    target, path = worker(t)
    for options in KILL_MODES:
        run_and_kill(t, target, path, 7, options)


@full_only
@once
def killed_profiler_200_rounds(t):
    for mode, rounds in ("plain", 50), ("threads", 17):
        target, path = worker(t, mode)
        for options in KILL_MODES:
            run_and_kill(t, target, path, rounds, options)
        target.kill()


@for_pythons()
def target_ends(t):
    """A target that ends by itself is a normal end; its exit status is its own."""
    target, _ = worker(t, "exits")
    r = t.pystill("-p", target.pid, "-s", 20, "-r", 0.005)
    t.true(r.seconds < 10, "took %.1f s" % r.seconds)
    t.true(sum(r.stacks().values()) > 5, "samples: %r" % r.out)
    t.equal(r.err, "")
    t.equal(target.process.wait(), 7, "the target's status")


@once
def target_killed(t):
    """SIGKILL to the target at any moment: the output is written, and nothing hangs."""
    for i in range(25):
        target, _ = worker(t, random.choice(["plain", "threads"]))
        options = random.choice(KILL_MODES)
        p = t.spawn([PYSTILL, "-p", str(target.pid), "-s", "20"] + options, stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE)
        time.sleep(random.uniform(0, 0.15))
        target.kill()
        out, err = p.communicate(timeout=20)
        if p.returncode:
            t.equal(p.returncode, 1, "status, round %d, %r" % (i, err))
            t.contains(err.decode(), str(target.pid))
            t.equal(out, b"", err.decode())
        else:
            t.true(out, "no output in round %d" % i)


@for_pythons()
def threads_come_and_go(t):
    target, path = worker(t, "threads")
    r = t.pystill("-p", target.pid, "-s", 1.5, "-r", 0.002, "--threads", "--max-overhead", 100)
    t.equal(r.err, "")
    counts = r.folded()
    failed = counts.get("(failed)", 0)
    t.true(sum(r.stacks().values()) > 300, "stacks: %d" % sum(r.stacks().values()))
    t.true(failed < sum(counts.values()) * 0.05, "%d of %d failed" % (failed, sum(counts.values())))
    is_free(t, target, "after the run")
    goes_on(t, path, "after the run")


@for_pythons()
def children_come_and_go(t):
    target, path = worker(t, "fork")
    r = t.pystill("-p", target.pid, "-s", 1, "-r", 0.002, "--threads", "--max-overhead", 100)
    t.equal(r.err, "")
    t.true(sum(r.stacks().values()) > 100, "stacks: %r" % r.out)
    goes_on(t, path, "after the run")


@for_pythons()
def exec_of_itself(t):
    """The target replaces itself by another program in mid-run: it is found anew."""
    target, path = worker(t, "exec")
    r = t.pystill("-p", target.pid, "-s", 4, "-r", 0.01, "--threads")
    after = [s for s in r.stacks() if s[0][1] in ("<module>", "?") and s[-1][1] == "act"]
    t.true(after, "no stack of the main thread")
    failed = r.folded().get("(failed)", 0)
    t.true(failed < 100, "%d failed" % failed)
    t.true(sum(r.stacks().values()) > 400, "stacks: %d" % sum(r.stacks().values()))


@for_pythons()
def signals_arrive_once(t):
    """Signals that are sent in turn arrive each once, at the highest rate of stops."""
    target, path = worker(t, "signals")
    p = t.spawn([PYSTILL, "-p", str(target.pid), "-s", "60", "-r", "0.0003", "--threads", "--stop", "all",
                 "--max-overhead", "100"],
                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    time.sleep(0.3)
    sent = 0
    for _ in range(200):
        os.kill(target.pid, signal.SIGUSR1)
        sent += 1
        end = time.monotonic() + 5
        while counters(path)[1] < sent and time.monotonic() < end:
            time.sleep(0.0002)
        t.equal(counters(path)[1], sent, "signals received")
    p.send_signal(signal.SIGTERM)
    t.equal(p.wait(20), 0, "status of pystill")
    time.sleep(0.1)
    t.equal(counters(path)[1], sent, "signals received in the end")


@once
def stopped_by_the_user(t):
    """A target that someone else has stopped is shown, and stays stopped."""
    target, path = worker(t)
    os.kill(target.pid, signal.SIGSTOP)
    time.sleep(0.1)
    for options in ([], ["--threads"], ["--stop", "all", "--threads"]):
        r = t.pystill("-p", target.pid, "-s", 0.3, "-r", 0.01, *options)
        t.true(sum(r.folded().values()) > 10, "samples with %r: %r" % (options, r.out))
        t.equal(r.folded().get("(failed)", 0), 0, "failed with %r" % options)
        t.equal({state for state, _ in task_states(target.pid)}, {"T"}, "states with %r" % options)
    os.kill(target.pid, signal.SIGCONT)
    goes_on(t, path, "after SIGCONT")


@once
def signals_to_the_profiler(t):
    """Each of these ends the run, and the output is written."""
    target, _ = worker(t)
    for number in signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT:
        for rate in "0.001", "3":
            out = os.path.join(t.tmp, "out-%d-%s" % (number, rate))
            p = t.spawn([PYSTILL, "-p", str(target.pid), "-s", "60", "-r", rate, "-o", out])
            time.sleep(0.4)
            p.send_signal(number)
            t.equal(p.wait(10), 0, "status after signal %d" % number)
            t.true(os.path.getsize(out) > 0, "no output after signal %d" % number)


@once
def in_the_background(t):
    """A shell's `&` has SIGINT and SIGQUIT ignored: they end the run all the same; nohup's SIGHUP does not."""
    target, _ = worker(t)
    out = os.path.join(t.tmp, "out")
    def start(*ignored):
        def ignore():
            for number in ignored:
                signal.signal(number, signal.SIG_IGN)
        return t.spawn([PYSTILL, "-p", str(target.pid), "-s", "60", "-o", out], preexec_fn=ignore)
    p = start(signal.SIGINT, signal.SIGQUIT)
    time.sleep(0.4)
    p.send_signal(signal.SIGINT)
    t.equal(p.wait(10), 0)
    p = start(signal.SIGHUP)
    time.sleep(0.4)
    p.send_signal(signal.SIGHUP)
    time.sleep(0.3)
    t.equal(p.poll(), None, "after a SIGHUP that was ignored")
    p.send_signal(signal.SIGTERM)
    t.equal(p.wait(10), 0)


@full_only
@once
def under_valgrind(t):
    """One attach without a bad read or a leak."""
    if not shutil.which("valgrind"):
        t.skip("valgrind is not installed")
    if b"__asan_init" in open(shutil.which(PYSTILL), "rb").read():
        t.skip("valgrind cannot run a program built with sanitizers")
    target, path = worker(t)
    log = os.path.join(t.tmp, "log")
    p = subprocess.run(["valgrind", "--leak-check=full", "--error-exitcode=99", "--log-file=" + log, PYSTILL, "-p",
                        str(target.pid), "-s", "3", "-r", "0.05", "--threads"], stdout=subprocess.PIPE, timeout=120)
    with open(log) as f:
        text = f.read()
    t.equal(p.returncode, 0, "status (%s)" % text[-1500:])
    t.contains(text, "ERROR SUMMARY: 0 errors")
    t.true(b"worker.py:count:" in p.stdout, p.stdout)
    goes_on(t, path, "after the run")
