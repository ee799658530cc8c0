"""What is measured, and the bars."""
import ast
import collections
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

from figures import Figures, ratios
from host import (CLEAN, HERE, Skip, Target, beside, cleanup, cpu_of, folders, gaps_of, harness, kill, lifted, peak_kb,
                  popen, taken_in)
from tools import NEW, Austin, Nothing, PySpy, Pystack, Pystill, Tachyon, measure
import test_churn

VERSIONS = [(2, 7), (3, 8), (3, 11), (3, 13), (3, 15)]
MAIN = (3, 11)
FASTEST = 1000000  # Hz: as often as it can


class Bench:
    def __init__(self, options):
        self.options, self.figures = options, Figures(options)
        self.rounds = options.rounds or (2 if options.quick else 5)
        p = options.pystill
        self.exact = Pystill(p)
        self.nonblocking = Pystill(p, "--nonblocking", name="pystill --nonblocking")
        self.pyspy, self.pyspy_nb = PySpy(), PySpy("--nonblocking", name="py-spy --nonblocking")
        self.austin, self.austin_bh = Austin(), Austin("-b", "-h", "1", name="austin -b -h 1")
        self.blocking = Tachyon("--blocking", "--collapsed", name="Tachyon --blocking")
        self.tachyon = Tachyon("--collapsed", name="Tachyon")
        self.binary = Tachyon("--binary", name="Tachyon --binary")
        self.pythons = {}
        self.broken = set()  # (tool, python) that was tried in vain

    def find_pythons(self):
        if self.options.pythons:
            text = open(self.options.pythons).read()
        else:
            text = subprocess.run([sys.executable, os.path.join(HERE, "interpreters")], stdout=subprocess.PIPE,
                                  stderr=subprocess.DEVNULL, text=True).stdout
        every = [p for p in harness.read_pythons(text.split("\n")) if p.bits == 64 and p.flavour == "release"]
        for p in sorted(every, key=lambda p: bool(p.root)):
            self.pythons.setdefault(p.minor, p)

    def python(self, version):
        if version not in self.pythons:
            raise Skip("no release build of Python %d.%d, 64 bits (utils/interpreters)" % version)
        return self.pythons[version]

    def seconds(self, default, quick):
        return quick if self.options.quick else default

    def usable(self, tools, python):
        for tool in tools:
            why = tool.missing(python)
            if why:
                self.figures.skip("%s on %s" % (tool.name, python.name), why)
            else:
                yield tool

    def turns(self, t, jobs, seconds):
        """Run each (tool, rate) by turns; returns {(name, rate): [Outcome or None for each round]}."""
        jobs = [(tool, rate) for tool, rate in jobs if list(self.usable([tool], t.python))]
        outcomes = {(tool.name, rate): [] for tool, rate in jobs}
        for _ in range(self.rounds):
            for tool, rate in jobs:
                if (tool.name, t.python.name) in self.broken:
                    outcomes[tool.name, rate].append(None)
                    continue
                try:
                    o = measure(tool, t, rate, seconds)
                except Skip as why:
                    self.figures.skip("%s on %s" % (tool.name, t.python.name), why)
                    self.broken.add((tool.name, t.python.name))
                    o = None
                outcomes[tool.name, rate].append(o)
        return outcomes

    def gaps_target(self, version, depth, asleep=0, native=0):
        t = Target(self.python(version), "gaps", depth, asleep, native)
        t.threads = 1 + asleep + native
        return t

    # ---- cases ----

    def rates(self, version, depth, threads, bars=True):
        """Stacks/s, as often as each can."""
        name = "rate %d.%d depth %d threads %d" % (version + (depth, threads))
        f, t = self.figures, self.gaps_target(version, depth, threads - 1)
        tools = [self.exact, self.nonblocking]
        if version >= NEW:
            tools += [self.blocking, self.tachyon, self.binary]
        else:
            tools += [self.pyspy, self.pyspy_nb, self.austin, self.austin_bh]
        if threads >= 100 and bars:
            tools = [x for x in tools if x not in (self.pyspy_nb, self.tachyon)]
        if self.options.quick:
            tools = [x for x in tools if x not in (self.tachyon, self.austin)]
        if not self.options.full:
            tools = [x for x in tools if x is not self.pyspy_nb]
        outcomes = self.turns(t, [(x, FASTEST) for x in tools], self.seconds(1.0, 0.5))
        t.stop()
        r = {n: [o and o.rate for o in v] for (n, _), v in outcomes.items()}
        for n, v in r.items():
            f.add(name, n, v, "/s")
        ours, loose = r["pystill"], r["pystill --nonblocking"]
        limits = {"py-spy": 100, "Tachyon --blocking": 14, "austin -b -h 1": 3} if threads >= 100 else \
            {"py-spy": {20: 8, 100: 25, 500: 80}.get(depth), "Tachyon --blocking": 1.2}
        for peer in (n for n in r if not n.startswith("pystill")):
            exact = peer in ("py-spy", "Tachyon --blocking")
            if exact or threads >= 100:
                limit = limits.get(peer) if bars else None
                f.add(name, "pystill / " + peer, ratios(ours, r[peer]), "x", limit and ">=", limit)
            if not exact and threads < 100:
                limit = {20: 2, 100: 2.5, 500: 3}.get(depth) if bars else None
                f.add(name, "--nonblocking / " + peer, ratios(loose, r[peer]), "x", limit and ">=", limit)

    def taken(self, asleep, native):
        """Time taken from one busy thread, and what the profiler itself needs."""
        name = "taken, 1 busy" + (" + %d asleep" % asleep if asleep else " + %d native" % native if native else "")
        t = self.gaps_target(MAIN, 20, asleep, native)
        rates = [100, 1000] + ([10000] if self.options.full else [])
        jobs, loose = [], self.options.full or not (self.options.quick or asleep or native)
        for rate in rates:
            for tool in [self.exact] + ([self.nonblocking] if loose else []) + [self.pyspy] + \
                    ([self.pyspy_nb, self.austin] if self.options.full else []):
                jobs += [(Nothing(), 0), (tool, rate)]
        outcomes = self.turns(t, jobs, self.seconds(2.0, 0.8))
        gaps = gaps_of(t.stop())
        base = [(o.window[0], taken_in(gaps, o.window)) for o in outcomes["none", 0]]
        self.figures.add(name, "gaps with no profiler", [x for _, x in base], "%")
        shown = {k: [o and taken_in(gaps, o.window) - beside(base, o.window[0]) for o in v]
                 for k, v in outcomes.items() if k[0] != "none"}
        for (n, rate), v in outcomes.items():
            if n != "none":
                self.taken_rows(name, n, rate, v, shown, outcomes, gaps)

    def taken_rows(self, name, tool, rate, runs, shown, outcomes, gaps):
        f, ours = self.figures, tool == "pystill"
        several = " + " in name
        limits = {100: 1.0, 1000: 4.5}
        bar = "<=" if ours and rate in limits else None
        f.add(name, "%s %d Hz, taken" % (tool, rate), shown[tool, rate], "%", bar, limits.get(rate))
        self.interruption(name, tool, rate, runs, outcomes, gaps)
        cpu_limits = {(100, False): 1.3, (1000, False): 5.5, (100, True): 5.0}
        limit = cpu_limits.get((rate, several)) if ours and "native" not in name else None
        f.add(name, "%s %d Hz, own CPU" % (tool, rate), [o and o.cpu for o in runs], "%", limit and "<=", limit)
        f.add(name, "%s %d Hz, peak RSS" % (tool, rate), [o and o.rss / 1024 for o in runs], "MB")
        if several:
            f.add(name, "%s %d Hz, wake-ups of others" % (tool, rate),
                  [o and o.wakeups / max(1, rate * (o.window[1] - o.window[0])) for o in runs], "/smp")
        if ours and ("py-spy", rate) in shown:
            limit = {100: 0.05} if several else {1000: 0.3}
            floor = [x and max(x, 1e-3) for x in shown["pystill", rate]]  # noise may be below zero
            f.add(name, "taken / py-spy, %d Hz" % rate, ratios(floor, shown["py-spy", rate]), "x",
                  "<=" if rate in limit else None, limit.get(rate))
            limit = (0.06 if rate == 100 else None) if several else 0.35
            limit = None if "native" in name else limit
            f.add(name, "own CPU / py-spy, %d Hz" % rate,
                  ratios([o and o.cpu for o in runs], [o and o.cpu for o in outcomes["py-spy", rate]]), "x",
                  limit and "<=", limit)
        stopped = [o.stats for o in runs if o and "stop" in o.stats]
        if ours and stopped:
            span = re.search(r"stop[^0-9;,]*([\d.]+) ?(?:us|µs)", stopped[-1])
            f.add(name, "%s %d Hz, stopped span" % (tool, rate), [float(span[1])] if span else [], "us",
                  note=stopped[-1].split("\n")[-1])

    def interruption(self, name, tool, rate, runs, outcomes, gaps):
        """The median length of the gaps that are more than without a profiler."""
        def histogram(os):
            h, spans = collections.Counter(), 0
            for o in os:
                a, b = o.window
                spans += b - a
                h.update(int(math.log(g * 1e6, 1.1)) for when, g in gaps if a <= when < b)
            return {k: n / spans for k, n in h.items()}
        usual = histogram(outcomes["none", 0])
        more = histogram([o for o in runs if o])
        more = {k: max(0, n - usual.get(k, 0)) for k, n in more.items()}
        half, passed = sum(more.values()) / 2, 0
        if half * 2 < rate * 0.3:
            return  # nothing stands out: it does not interrupt
        for k in sorted(more):
            passed += more[k]
            if passed >= half:
                self.figures.add(name, "%s %d Hz, one gap (median)" % (tool, rate), [1.1 ** (k + 0.5)], "us")
                return

    def eintr(self):
        name, f = "EINTR", self.figures
        seconds = self.seconds(3.0, 1.5)
        for version, tools in ((MAIN, [self.exact, self.pyspy]), (NEW, [self.exact, self.blocking])):
            if self.options.quick and version == NEW:
                continue
            for tool in self.usable(tools, self.python(version)):
                for mode in ("blocked", "waker"):
                    values = []
                    for _ in range(1 if self.options.quick or tool is not self.exact else 2):
                        t = Target(self.python(version), mode)
                        t.threads = 4 if mode == "blocked" else 1
                        o = measure(tool, t, 1000, seconds)
                        seen = ast.literal_eval(t.stop().decode())
                        samples = 1000 * seconds
                        values.append(sum(seen[k] for k in ("epoll_wait", "recv", "semop")) if mode == "blocked" else
                                      seen["waker"] / max(1, o.stacks + o.failed + o.idle or samples) * 100)
                    ours, at = tool is self.exact, " %d.%d, 1 kHz" % version
                    if mode == "blocked":
                        f.add(name, "%s%s: blocked calls" % (tool.name, at), values, "", "==" if ours else None, 0)
                    else:
                        f.add(name, "%s%s: a waker" % (tool.name, at), values, "%", "<=" if ours else None, 0.1)

    def startup(self):
        """From exec to the end of a run that takes and prints one sample."""
        for threads, limit in ((1, 10), (100, 25)):
            name, f = "one sample, %d threads" % threads, self.figures
            for version, tools in ((MAIN, [self.exact, self.pyspy, self.austin, Pystack()]),
                                   (NEW, [self.exact, self.tachyon])):
                t = self.gaps_target(version, 20, threads - 1)
                tools = list(self.usable(tools, t.python))
                times = {x.name: [] for x in tools}
                with lifted():
                    for _ in range(self.rounds * 2):
                        for x in tools:
                            times[x.name].append(self.one_shot(x, t))
                t.stop()
                at = ", %d.%d" % version
                for n, v in times.items():
                    f.add(name, n + at, v, "ms", "<=" if n == "pystill" else None, limit)
                if "py-spy" in times:
                    f.add(name, "pystill / py-spy", ratios(times["pystill"], times["py-spy"]), "x", "<=", 0.6)

    def one_shot(self, tool, t):
        """Started with vfork, as a shell would."""
        words = tool.one_shot(t)
        null = os.open(os.devnull, os.O_RDWR)
        begin = time.perf_counter()
        try:
            pid = os.posix_spawnp(words[0], words, CLEAN,
                                  file_actions=[(os.POSIX_SPAWN_DUP2, null, i) for i in range(3)])
        finally:
            os.close(null)
        status = os.waitpid(pid, 0)[1]
        took = (time.perf_counter() - begin) * 1000
        if status:
            self.figures.skip(" ".join(words[:2]), "ended with status %d" % os.waitstatus_to_exitcode(status))
        return None if status else took

    def long_run(self):
        """The rate held, shares and memory: one program with known shares at 1 kHz."""
        name, f = "long run, 1 kHz", self.figures
        spans = [15] if self.options.quick else [60, 600] if self.options.full else [60, 142]
        wanted = seen = failed = 0
        for seconds in spans:
            t = Target(self.python(MAIN), "shares")
            o = measure(self.exact, t, 1000, seconds)
            spent = ast.literal_eval(t.stop().decode())
            wanted += 1000 * o.seconds
            seen += o.stacks + o.idle + o.failed
            failed += o.failed
            if seconds == spans[0]:
                mine = self.leaves(self.exact, o)
                total = sum(mine[k] for k in spent)
                worst = max(abs(mine[k] / total - spent[k] / sum(spent.values())) * 100 for k in spent)
                f.add(name, "worst share, %d s" % seconds, [worst], "pts", "<=", 1.0)
        enough = wanted >= 200000  # the jitter alone makes 0.2 % of 20,000
        f.add(name, "samples of those wanted", [seen / wanted * 100], "%", "within", 0.2 if enough else 1.0,
              "of %d" % wanted + ("" if enough else " (too few to judge to 0.2 %)"))
        f.add(name, "failed", [failed / seen * 100], "%")
        f.add(name, "peak RSS, %d stacks" % len(o.counts), [o.rss / 1024], "MB", "<=", 5)
        f.add(name, "RSS grown after a quarter of %d s" % spans[-1], [o.grown], "KB", "<=", 64)

    @staticmethod
    def leaves(tool, o):
        counts = collections.Counter()
        for text, n in o.counts.items():
            frames = tool.frames(text)
            if frames:
                counts[frames[-1][1]] += n
        return counts

    def lock_step(self):
        """Two steps of 10 ms in all, looked at 100 times a second: root of the mean squared error of step_a's share."""
        name, f = "lock-step, 100 Hz", self.figures
        for version, tools in ((MAIN, [self.exact, self.pyspy, self.austin]), (NEW, [self.tachyon])):
            if self.options.quick:
                tools = [x for x in tools if x in (self.exact, self.pyspy)]
            for tool in self.usable(tools, self.python(version)):
                errors = []
                for _ in range(2 if self.options.quick else 6 if tool is self.exact else 3):
                    t = Target(self.python(version), "steps")
                    o = measure(tool, t, 100, 4 if not self.options.quick else 2.5)
                    spent, seen = ast.literal_eval(t.stop().decode()), self.leaves(tool, o)
                    both = seen["step_a"] + seen["step_b"]
                    errors.append((seen["step_a"] / max(1, both) - spent["step_a"] / sum(spent.values())) * 100)
                rms = math.sqrt(sum(e * e for e in errors) / len(errors))
                f.add(name, tool.name, [rms], "pts", "<=" if tool is self.exact else None, 1.5)

    def truth(self):
        """Impossible stacks of tests/targets/churn.py, as often as we can."""
        name, f = "truth", self.figures
        total = collections.Counter()
        versions = [v for v in VERSIONS if v in self.pythons]
        wanted = 10000 if self.options.quick else 1000000 if self.options.full else 1050000 // len(versions)
        for version in VERSIONS:
            try:
                python = self.python(version)
            except Skip as why:
                f.skip("truth %d.%d" % version, why)
                continue
            limit = 150 if self.options.full else self.seconds(30, 1.5)
            total += self.churn(self.exact, python, wanted, limit, FASTEST)
        shown = total["stacks"] - total["unproved"]
        f.add(name, "impossible of %d exact" % shown, [total["impossible"]], "", "==", 0,
              "" if shown >= 1e6 else "(fewer than 1,000,000)")
        for version, tools in ((MAIN, [self.pyspy, self.pyspy_nb, self.austin]), (NEW, [self.blocking, self.tachyon])):
            if version in self.pythons and not self.options.quick:
                for tool in self.usable(tools, self.pythons[version]):
                    self.churn(tool, self.pythons[version], 2000, 3, 1000)

    def churn(self, tool, python, wanted, limit, rate):
        """WANTED stacks, a third each of three targets, in LIMIT seconds at most; returns what was counted."""
        total = collections.Counter()
        kinds = [("1", "20", False), ("1", "0", False), ("2", "3", True)]
        for i, (threads, loops, sleepers) in enumerate(kinds):
            t = Target(python, None, threads, loops, *(["sleepers"] if sleepers else []), script="churn.py")
            t.threads = 2 if tool is self.exact and sleepers else 1
            end = time.monotonic() + limit / 3
            while total["stacks"] < wanted * (i + 1) / 3 and (time.monotonic() < end or not total["runs", i]):
                o = measure(tool, t, rate, min(4.0, max(0.5, limit / 6)))
                total += collections.Counter(stacks=o.stacks, failed=o.failed, unproved=o.unproved or 0)
                total["runs", i] += 1
                total["no count"] += o.unproved is None
                for text, n in o.counts.items():
                    frames = tool.frames(text)
                    if test_churn.check(frames, t.truth["calls"]):
                        total["impossible"] += n
            t.close()
        f, at = self.figures, ", %d.%d" % python.minor
        f.add("truth", tool.name + at + ", impossible", [total["impossible"] / max(1, total["stacks"]) * 100], "%",
              note="of %d" % total["stacks"])
        ours = tool is self.exact
        lost = (total["unproved"] + total["failed"]) / max(1, total["stacks"] + total["failed"]) * 100
        f.add("truth", tool.name + at + ", unproved + failed", [lost], "%", "<=" if ours else None, 1.0,
              "(unproved not told: no --stats)" if ours and total["no count"] else "")
        return total

    def processes(self, n):
        """One profiler for each of N mostly sleeping processes, at 100 Hz."""
        name, f = "%d processes, 100 Hz" % n, self.figures
        targets = [Target(self.python(MAIN), "mild") for _ in range(n)]
        for tool in self.usable([self.exact, self.pyspy, self.austin], targets[0].python):
            cpu, rss, seconds = [], [], self.seconds(2.0, 1.0)
            for _ in range(min(3, self.rounds)):
                folder = tempfile.mkdtemp(prefix="pystill-bench-")
                folders.append(folder)
                ps = [popen(tool.words(t, 100, seconds + 1.5, "%s/%d" % (folder, i)), stdout=subprocess.DEVNULL,
                            stderr=subprocess.DEVNULL) for i, t in enumerate(targets)]
                time.sleep(0.8)
                used, begin = sum(cpu_of(p.pid) for p in ps), time.perf_counter()
                time.sleep(seconds)
                cpu.append((sum(cpu_of(p.pid) for p in ps) - used) / (time.perf_counter() - begin) * 100)
                rss.append(sum(peak_kb(p.pid) for p in ps) / 1024)
                for p in ps:
                    kill(p)
                shutil.rmtree(folder, ignore_errors=True)
            f.add(name, tool.name + ", own CPU of all", cpu, "%")
            f.add(name, tool.name + ", peak RSS of all", rss, "MB")
        for t in targets:
            t.close()

    def growth(self):
        """Our own figures by depth and threads."""
        for depth, threads in ((5, 1), (20, 10), (20, 1000), (500, 100)):
            t = self.gaps_target(MAIN, depth, threads - 1)
            outcomes = self.turns(t, [(self.exact, FASTEST)], self.seconds(1.0, 0.5))["pystill", FASTEST]
            t.stop()
            name = "growth, depth %d threads %d" % (depth, threads)
            self.figures.add(name, "pystill", [o and o.rate for o in outcomes], "/s")
            self.figures.add(name, "pystill, peak RSS", [o and o.rss / 1024 for o in outcomes], "MB")

    def cases(self):
        """[(name, function)] of what the options ask for."""
        o = self.options
        cases = [("rate %d.%d depth %d" % (v + (d,)), lambda v=v, d=d: self.rates(v, d, 1))
                 for d in (20, 100, 500) for v in (MAIN, NEW)]
        cases += [("rate %d.%d depth 20 threads 100" % v, lambda v=v: self.rates(v, 20, 100)) for v in (MAIN, NEW)]
        cases += [("taken 1 busy", lambda: self.taken(0, 0)), ("taken 99 asleep", lambda: self.taken(99, 0)),
                  ("taken 150 native", lambda: self.taken(0, 150)), ("eintr", self.eintr), ("start-up", self.startup),
                  ("lock-step", self.lock_step), ("truth", self.truth), ("long run", self.long_run)]
        if not o.quick:
            cases += [("growth", self.growth), ("processes 2", lambda: self.processes(2)),
                      ("processes 20", lambda: self.processes(20))]
        if o.full:
            cases += [("product %d.%d depth %d threads %d" % (v + (d, n)),
                       lambda v=v, d=d, n=n: self.rates(v, d, n, False))
                      for v in VERSIONS for d in (5, 20, 100, 500) for n in (1, 10, 100, 1000)]
        return [c for c in cases if not o.only or o.only in c[0]]

    def run(self):
        self.find_pythons()
        begin = time.monotonic()
        for name, case in self.cases():
            print("%s  (%d s)" % (name, time.monotonic() - begin), flush=True)
            try:
                case()
            except (Skip, OSError, ValueError, harness.Fail) as why:
                self.figures.skip(name, why)
            finally:
                cleanup()
        good = self.figures.table()
        self.figures.save(self.options.json, self.facts(time.monotonic() - begin))
        print("%d s; written to %s" % (time.monotonic() - begin, self.options.json))
        return 0 if good else 1

    def facts(self, seconds):
        model = re.search(r"model name\s*: (.*)", open("/proc/cpuinfo").read())
        return {"cpus": os.cpu_count(), "model": model[1] if model else "", "kernel": os.uname().release,
                "seconds": round(seconds), "rounds": self.rounds, "load": os.getloadavg(),
                "pythons": {p.name: p.version_text for p in self.pythons.values()}}
