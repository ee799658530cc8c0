"""The stacks that pystill shows are those that the target says it is in."""
import resource

from harness import for_pythons, once


def leaf_is_exempt(t, target):
    """Inside JIT code the line of the newest frame is stale at times."""
    return target.truth["jit"]


def compare_all(t, target, got):
    """Every stack of GOT is one of the target's, and every one of the target's is there."""
    wanted = target.stacks()
    by_leaf = {}
    for name, stack in wanted.items():
        by_leaf.setdefault(tuple(f[:2] for f in stack), []).append((name, stack))
    seen = set()
    for stack in got:
        same = by_leaf.get(tuple(f[:2] for f in stack))
        t.true(same, "a stack that the target is never in: %r" % (stack,))
        for name, true_stack in same:
            frames = true_stack
            if leaf_is_exempt(t, target):
                frames = frames[:-1] + [stack[-1]]
            if list(stack) == frames:
                seen.add(name)
                break
        else:
            t.same_stack(list(stack), same[0][1], same[0][0])
    return seen


@for_pythons()
def parked_threads(t):
    target = t.start("shapes.py", "parked")
    r = t.pystill("-p", target.pid, "-s", 0, "--threads")
    t.equal(r.err, "")
    seen = compare_all(t, target, r.stacks())
    t.equal(seen, set(target.stacks()), "shapes seen")
    t.equal(sum(r.folded().values()), len(target.stacks()), "stacks")
    frames = sum(len(s) for s in r.stacks())
    t.report("frames right", "%d of %d" % (frames, sum(len(s) for s in set(map(tuple, target.stacks().values())))))


@for_pythons(lambda p: not p.unsupported() and not p.free_threaded)
def spinning_threads(t):
    """All threads want the GIL all the time: each sample shows all of them, and each stack is true."""
    target = t.start("shapes.py", "spinning", env={"PYTHON_JIT": "0"})
    r = t.pystill("-p", target.pid, "-s", 2, "-r", 0.05, "--threads")
    seen = compare_all(t, target, r.stacks())
    t.equal(seen, set(target.stacks()), "shapes seen")


@for_pythons(lambda p: not p.unsupported() and p.free_threaded)
def spinning_without_gil(t):
    """The same where all of them run at once: a few at a time."""
    names = sorted(t.start("shapes.py", "parked").stacks())
    names.remove("main")
    for i in range(0, len(names), 6):
        target = t.start("shapes.py", "spinning", *names[i:i + 6])
        for more in ([], ["--threads"]):
            r = t.pystill("-p", target.pid, "-s", 1, "-r", 0.03, *more)
            seen = compare_all(t, target, r.stacks())
            t.equal(seen, set(target.stacks()) - (set() if more else {"main"}), "shapes seen with %r" % more)
        target.kill()


@for_pythons(lambda p: not p.unsupported() and p.free_threaded)
def free_threaded_with_gil(t):
    """With PYTHON_GIL=1 the rules of the GIL hold: one thread a sample."""
    target = t.start("shapes.py", "spinning", "plain", "recursion", env={"PYTHON_GIL": "1"})
    r = t.pystill("-p", target.pid, "-s", 1.5, "-r", 0.005)
    t.equal(compare_all(t, target, r.stacks()), {"plain", "recursion"}, "holders seen")
    t.true(sum(r.folded().values()) <= 310, "more stacks than samples: %r" % r.folded())


@for_pythons()
def one_thread_runs(t):
    """Some 300 samples of one busy thread among sleepers: each is that thread.  To 3.1 it lets go of the GIL for a
    moment again and again, and when it loses the CPU then the process is truly idle."""
    target = t.start("shapes.py", "spinning", "plain")
    counts = t.pystill("-p", target.pid, "-s", 1.2, "-r", 0.003, "--max-overhead", 100).folded()
    busy = sum(n for s, n in counts.items() if "shapes.py:plain:" in s)
    share = busy / sum(counts.values())
    t.report("GIL holder right of samples", "%d of %d" % (busy, sum(counts.values())))
    t.true(busy >= 100 and share >= (0.97 if t.python.minor >= (3, 2) else 0.85), "counts: %r" % counts)
    t.equal(len(counts) - ("(idle)" in counts) - ("(failed)" in counts), 1, "stacks")


@for_pythons()
def gil_holder(t):
    """Without --threads each sample is the thread that holds the GIL."""
    target = t.start("shapes.py", "spinning", "plain", "recursion", "generator")
    r = t.pystill("-p", target.pid, "-s", 1.5, "-r", 0.003, "--max-overhead", 100)
    counts = r.folded()
    seen = compare_all(t, target, r.stacks())
    t.equal(seen, {"plain", "recursion", "generator"}, "holders seen")
    failed = counts.get("(failed)", 0)
    t.true(sum(r.stacks().values()) >= 300, "too few samples: %r" % counts)
    t.true(failed <= 5, "%d of %d failed" % (failed, sum(counts.values())))


@for_pythons()
def gil_holder_without_stops(t):
    target = t.start("shapes.py", "spinning", "plain", "recursion", "generator")
    r = t.pystill("-p", target.pid, "-s", 1, "-r", 0.003, "--nonblocking")
    t.equal(compare_all(t, target, r.stacks()), {"plain", "recursion", "generator"}, "holders seen")
    t.contains(r.err, "unproved")


@for_pythons()
def all_stopped(t):
    target = t.start("shapes.py", "spinning", "plain", "recursion", "generator")
    for more in ([], ["--threads"]):
        r = t.pystill("-p", target.pid, "-s", 1, "-r", 0.01, "--stop", "all", *more)
        names = {"plain", "recursion", "generator"} | ({"main"} if more else set())
        t.equal(compare_all(t, target, r.stacks()), names, "threads seen")


@for_pythons()
def without_line_numbers(t):
    target = t.start("shapes.py", "parked", "plain", "multi_line_call")
    with_lines = t.pystill("-p", target.pid, "-s", 0, "--threads").folded()
    r = t.pystill("-p", target.pid, "-s", 0, "--threads", "-n").folded()
    t.equal(set(r), {";".join(f.rpartition(":")[0] for f in s.split(";")) for s in with_lines})


def large_stacks():
    """Threads have stacks of this size where Python does not say how large they shall be."""
    resource.setrlimit(resource.RLIMIT_STACK, (512 << 20, resource.getrlimit(resource.RLIMIT_STACK)[1]))


@for_pythons()
def deep_recursion(t):
    """10,000 frames, parked and running."""
    for mode in "parked", "spinning":
        target = t.start("deep.py", mode, "10000", preexec_fn=large_stacks)
        r = t.pystill("-p", target.pid, "-s", 0.5, "-r", 0.05, "--threads")
        stacks = [s for s in r.stacks() if len(s) > 1000]
        t.equal(len(stacks), 1, "deep stacks: %r" % {len(s): n for s, n in r.stacks().items()})
        t.same_stack(list(stacks[0]), target.stacks()["deep"], "deep")
        failed = r.folded().get("(failed)", 0)  # on a busy machine a thread may stop late
        t.true(failed <= 3, "%d failed" % failed)
        target.kill()


@for_pythons(lambda p: not p.unsupported() and p.minor >= (3, 11))  # before, the C stack is too small for it
def deeper_than_the_limit(t):
    """The newest 65,536 frames, under a root that says so."""
    target = t.start("deep.py", "parked", "70000")
    r = t.pystill("-p", target.pid, "-s", 0, "--threads")
    deep = [s for s in r.folded() if s.startswith("(truncated);")]
    t.equal(len(deep), 1, "truncated stacks")
    frames = deep[0].split(";")[1:]
    wanted = ["%s:%s:%d" % f for f in target.stacks()["deep"][-65536:]]
    t.equal(len(frames), 65536, "frames")
    t.same_stack(frames, wanted, "the newest frames")


@once
def idle_process(t):
    target = t.start("shapes.py", "parked", "plain")
    t.equal(list(t.pystill("-p", target.pid, "-s", 0.2).folded()), ["(idle)"])
    t.equal(t.pystill("-p", target.pid, "-s", 0.2, "-x").out, "")
