"""No impossible stack, ever: targets whose stacks change all the time."""
from harness import Fail, for_eras, for_pythons, full_only


def check(stack, calls):
    """Returns what is wrong with a stack (root first) of churn.py, or None."""
    frames = [f for f in stack if f[0] == "churn_code.py"]
    if not frames:
        return None if stack else "empty"
    if list(stack[-len(frames):]) != frames:
        return "frames of other files in between"
    if frames[0][1] not in ("work", "a1"):
        return "begins with %s" % frames[0][1]
    for (_, caller, line), (_, callee, _) in zip(frames, frames[1:]):
        wanted = calls[caller].get(callee)
        if wanted is None:
            return "%s never calls %s" % (caller, callee)
        if line != wanted:
            return "%s calls %s at line %d, not %d" % (caller, callee, wanted, line)
    _, leaf, line = frames[-1]
    first, last = calls[leaf][""]
    return None if first <= line <= last else "%s has no line %d" % (leaf, line)


def churn(t, threads, loops, seconds, rate, *options, sleepers=False, wanted=0):
    """Run one target for a while; returns (stacks, failed)."""
    target = t.start("churn.py", threads, str(loops), *(["sleepers"] if sleepers else []))
    counts = {"stacks": 0, "failed": 0}
    while True:
        r = t.pystill("-p", target.pid, "-s", seconds, "-r", rate, "--max-overhead", 100, *options,
                      timeout=seconds * 10 + 60)
        for stack, n in r.stacks().items():
            wrong = check(stack, target.truth["calls"])
            if wrong:
                raise Fail("impossible (%d times): %s: %r" % (n, wrong, stack))
            counts["stacks"] += n
        counts["failed"] += r.folded().get("(failed)", 0)
        if counts["stacks"] >= wanted:
            break
    target.kill()
    return counts


def failed_seldom(t, what, counts):
    t.true(counts["failed"] <= (counts["stacks"] + counts["failed"]) * 0.05,
           "%s: %d failed, %d stacks" % (what, counts["failed"], counts["stacks"]))


@for_pythons()
def short_run(t):
    for threads, options in (("1", []), ("2", ["--threads"])):
        failed_seldom(t, threads, churn(t, threads, 3, 1, 0.001, *options))


@for_pythons()
def all_threads_stopped(t):
    failed_seldom(t, "stop all", churn(t, "2", 10, 1, 0.002, "--threads", "--stop", "all", sleepers=True))


@full_only
@for_eras()
def two_hundred_thousand(t):
    """Calls of 0.1 to 10 us, 1 to 4 threads, with and without --threads and sleepers."""
    runs = [("1", 0, [], False), ("1", 20, [], False), ("2", 3, [], False), ("4", 200, [], False),
            ("1", 3, ["--threads"], True), ("4", 20, ["--threads"], True)]
    total = {"stacks": 0, "failed": 0}
    for threads, loops, options, sleepers in runs:
        counts = churn(t, threads, loops, 4, 0.0001, *options, sleepers=sleepers, wanted=34000)
        for k in total:
            total[k] += counts[k]
    t.true(total["stacks"] >= 200000, "only %(stacks)d stacks" % total)
    failed_seldom(t, t.python.name, total)
    t.report("churn: impossible of stacks", "0 of %(stacks)d (%(failed)d failed)" % total)
