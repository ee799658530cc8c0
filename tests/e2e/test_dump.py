"""Pyflame's dump and flame chart."""
import re
import subprocess
import time

from harness import Fail, can_embed, for_pythons, split_frame
from test_truth import compare_all, large_stacks


def read_dump(text):
    """{ident: (holds the GIL, name or None, [frame, ...] leaf first)}"""
    threads = {}
    if text and not text.endswith("\n"):
        raise Fail("the last line has no end")
    for block in text[:-1].split("\n\n"):
        head, *frames = block.split("\n")
        m = re.match(r"(\d+)(\*?):(?: (.+))?$", head)
        if not m:
            raise Fail("no head of a thread: %r" % head)
        if int(m[1]) in threads:
            raise Fail("twice the same thread: %r" % head)
        threads[int(m[1])] = (bool(m[2]), m[3], [split_frame(f) for f in frames])
    return threads


@for_pythons()
def parked(t):
    target = t.start("shapes.py", "parked")
    r = t.pystill("-p", target.pid, "-d")
    t.equal(r.err, "")
    threads = read_dump(r.out)
    idents, wanted = target.idents(), target.stacks()
    t.equal({idents.get(i) for i in threads}, set(wanted), "threads")
    for ident, (holds, name, frames) in threads.items():
        note = idents[ident]
        t.same_stack(frames[::-1], wanted[note], note)
        t.equal(name, "MainThread" if note == "main" else "shape " + note, "name of the thread")
        t.equal(holds, False, "GIL of " + note)
    t.equal(idents[list(threads)[0]], "main", "the first thread")
    t.report("dump: threads right", "%d of %d" % (len(threads), len(wanted)))


@for_pythons()
def spinning(t):
    """The star is at the thread that holds the GIL."""
    target = t.start("shapes.py", "spinning", "plain", "recursion")
    stars = set()
    for _ in range(20):
        threads = read_dump(t.pystill("-p", target.pid, "-d").out)
        stars |= {target.idents()[i] for i, (holds, _, _) in threads.items() if holds}
        t.true(sum(holds for holds, _, _ in threads.values()) <= 1, "two holders of one GIL")
        for ident, (_, _, frames) in threads.items():
            note = target.idents()[ident]
            t.same_stack(frames[::-1], target.stacks()[note], note)
    t.equal(stars, set() if t.python.free_threaded else {"plain", "recursion"}, "threads with a star")


@for_pythons()
def names(t):
    """Names of any script, of threads that were renamed, and threads that threading does not know."""
    target = t.start("names.py")
    threads = read_dump(t.pystill("-p", target.pid, "-d").out)
    got = {target.idents()[i]: name for i, (_, name, _) in threads.items()}
    wanted = dict(target.truth["names"], unknown=None)
    if t.python.minor < (3, 13) or "unknown" not in got:
        wanted["unknown"] = got.get("unknown")  # asking for current_thread() may have made a dummy
    t.equal(got, wanted, "names")


@for_pythons()
def without_threading(t):
    """A program that never imports threading has a main thread without a name."""
    target = t.start("sleeper.py")
    threads = read_dump(t.pystill("-p", target.pid, "-d").out)
    t.equal(len(threads), 1, "threads")
    t.true(list(threads.values())[0][2], "no frames")


@for_pythons()
def flamechart(t):
    """Pairs of lines: microseconds since the epoch, and the stack with ';' behind each frame."""
    target = t.start("shapes.py", "spinning", "plain", "recursion")
    before = time.time() * 1e6
    lines = t.pystill("-p", target.pid, "-s", 1, "-r", 0.01, "--flamechart").out.split("\n")
    t.equal(lines.pop(), "")
    t.equal(len(lines) % 2, 0, "lines left over")
    times = [int(x) for x in lines[::2]]
    t.true(before <= times[0] and times[-1] <= time.time() * 1e6, "times out of range")
    t.equal(times, sorted(times), "order of times")
    t.true(50 <= len(times) <= 210, "%d samples" % len(times))
    stacks = set()
    for text in lines[1::2]:
        if text not in ("(idle)", "(failed)"):
            t.true(text.endswith(";"), "no ';' at the end: %r" % text)
            stacks.add(tuple(split_frame(f) for f in text[:-1].split(";")))
    t.equal(compare_all(t, target, stacks), {"plain", "recursion"}, "stacks")
    t.report("flamechart: samples", str(len(times)))


@for_pythons()
def flamechart_of_an_idle_process(t):
    target = t.start("shapes.py", "parked", "plain")
    lines = t.pystill("-p", target.pid, "-s", 0.3, "-r", 0.01, "--flamechart").out.split("\n")
    t.equal(set(lines[1::2]), {"(idle)"})
    t.equal(t.pystill("-p", target.pid, "-s", 0.2, "--flamechart", "-x").out, "")


def start_interpreters(t, mode):
    """Making interpreters now and then crashes a debug build of 3.12 ("invalid pointer"), with nobody looking."""
    for tries_left in range(3, -1, -1):
        try:
            return t.start("interpreters.py", mode)
        except Fail as e:
            if not tries_left or "ended with status -" not in str(e):
                raise


@for_pythons(lambda p: not p.unsupported() and (p.minor >= (3, 8)))  # modules that make interpreters
def all_interpreters(t):
    """Sub-interpreters, with a GIL of their own from 3.12 on: every one is seen, every stack is true."""
    target = start_interpreters(t, "parked")
    wanted = target.stacks()
    got = t.pystill("-p", target.pid, "-s", 0, "--threads").stacks()
    for name, stack in wanted.items():
        t.true(tuple(stack) in got, "%s is not there: %r in %r" % (name, stack, got))
    target.kill()
    target = start_interpreters(t, "spinning")
    spinning = {name: tuple(s) for name, s in target.stacks().items() if name.startswith("sub")}
    seen = set()
    for _ in range(10):  # where they share the GIL one may starve the other for a while
        r = t.pystill("-p", target.pid, "-s", 1, "-r", 0.01)
        seen.update(r.stacks())
        if len(seen) == len(spinning):
            break
    t.equal(seen, set(spinning.values()), "holders seen")
    if t.python.minor >= (3, 12):
        many = sum(r.stacks().values())
        t.true(many > 130, "with several GILs every holder is shown: %d stacks of some 100 samples" % many)


@for_pythons(can_embed)
def embedded(t):
    """A C program, under a name of its own, that runs several interpreters in threads of its own."""
    server = t.spawn([t.embed("embed.c")], stdout=subprocess.PIPE)
    server.stdout.readline()
    time.sleep(0.2)
    got = t.pystill("-p", server.pid, "-s", 0.5, "--threads").stacks()
    leaves = {s[-1][1] for s in got}
    t.true({"handler_1", "handler_2", "handler_3"} <= leaves, "handlers: %r" % got)
