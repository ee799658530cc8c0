"""The truth meter, and the bounds on what we take from the target."""
import re

from harness import Fail, for_eras, once

METER = re.compile(r"pystill: ([\d.]+) s: (\d+) of (\d+) samples, ([\d.]+) Hz; stacks: (\d+) exact, (\d+) unproved, "
                   r"(\d+) failed(?: \(.+\))?; (\d+) stops(?: of ([\d.]+) us \(median; "
                   r"p99 ([\d.]+), longest ([\d.]+)\), "
                   r"([\d.]+) % of the time)?; own CPU ([\d.]+) %$")


def read_meter(text):
    """{name: number} of the last line."""
    m = METER.match(text.rstrip("\n").split("\n")[-1])
    if not m:
        raise Fail("no meter: %r" % text)
    names = ("seconds", "samples", "wanted", "rate", "exact", "unproved", "failed", "stops", "median", "p99", "longest",
             "share", "cpu")
    return {name: float(value or 0) for name, value in zip(names, m.groups())}


@for_eras()
def meter(t):
    """It adds up, and says the same as the output."""
    target = t.start("shapes.py", "spinning", "plain", "recursion")
    for options in ([], ["--threads"], ["--stop", "all"], ["--stop", "none"]):
        r = t.pystill("-p", target.pid, "-s", 1, "-r", 0.005, "--stats", *options)
        m, counts = read_meter(r.err), r.folded()
        t.equal(m["exact"] + m["unproved"], sum(r.stacks().values()), "stacks with %r" % options)
        t.equal(m["failed"], counts.get("(failed)", 0), "failed with %r" % options)
        t.true(0.9 <= m["seconds"] <= 1.5 and 180 <= m["wanted"] <= 300, "%r: %r" % (options, m))
        t.true(m["samples"] <= m["wanted"] * 1.1 + 1, "%r: %r" % (options, m))
        t.true(abs(m["rate"] - m["samples"] / m["seconds"]) <= m["rate"] * 0.1, "%r: %r" % (options, m))
        t.true(m["median"] <= m["p99"] <= m["longest"], "%r: %r" % (options, m))
        if "none" in options:
            t.equal(m["stops"], 0, "stops")
            t.true(m["exact"] < m["unproved"], "exact stacks of threads that mostly run: %r" % m)


@once
def pipes_stay_silent(t):
    target = t.start("shapes.py", "spinning", "plain")
    t.equal(t.pystill("-p", target.pid, "-s", 0.3).err, "")


@for_eras()
def overhead_is_bounded(t):
    """Where stops would take more than they may, the rate is lowered, and that is said, once."""
    target = t.start("shapes.py", "spinning", "plain")
    r = t.pystill("-p", target.pid, "-s", 2, "-r", 0.0001, "--max-overhead", 0.5, "--stats")
    m = read_meter(r.err)
    t.true(m["share"] < 2, "share of time stopped: %r" % m)
    if m["stops"] > m["samples"] / 2:  # on a busy machine the target waits for a CPU, and need not be stopped
        t.equal(r.err.count("the rate is lowered to"), 1, r.err)
        t.true(m["samples"] < m["wanted"] / 2, "the rate: %r" % m)
    r = t.pystill("-p", target.pid, "-s", 1, "-r", 0.001, "--max-overhead", 100, "--stats")
    t.true("lowered" not in r.err, r.err)
