#!/usr/bin/env python3
"""Run the end-to-end tests.

    run.py [--pythons FILE] [--full | --only-full] [--table FILE] [-j N] [-k TEXT] [-v]

Without --pythons only the python3 that runs this is tested; FILE holds lines of utils/interpreters.  The program is
$PYSTILL.  Prints one line a test that did not pass, skips with their reasons, then "N passed, N failed, N skipped";
the exit status is 1 when any failed, 77 when all were skipped.
"""
import argparse
import concurrent.futures
import glob
import importlib
import os
import shutil
import sys
import time
import traceback

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import harness  # noqa: E402


def load_tests():
    """All functions that are marked as tests, in the order of files and lines."""
    found = []
    for path in sorted(glob.glob(os.path.join(harness.HERE, "test_*.py"))):
        module = importlib.import_module(os.path.basename(path)[:-3])
        found += [f for f in vars(module).values() if callable(f) and hasattr(f, "choose")
                  and f.__module__ == module.__name__]
    return found


def plan(tests, pythons, lengths, text):
    """[(name, function, python)]; LENGTHS says which are wanted: False the short ones, True the long ones."""
    out = []
    for f in tests:
        if getattr(f, "full_only", False) not in lengths:
            continue
        base = f.__module__[5:] + "." + f.__name__
        chosen = [p for p in pythons if f.choose(p)] if f.choose else [harness.system_python()]
        if getattr(f, "first_of_kind", False):
            chosen = list({(p.minor, p.flavour): p for p in reversed(chosen)}.values())
        for python in chosen:
            name = base + ("[%s]" % python.name if f.choose else "")
            if text in name:
                out.append((name, f, python))
    return out


def run_one(name, f, python):
    """-> (name, 'pass' or 'fail' or 'skip', text, seconds, {figure: text})"""
    begin = time.monotonic()
    test = harness.Test(python)
    try:
        f(test)
        result = "pass", ""
    except harness.Skip as e:
        result = "skip", str(e)
    except Exception as e:
        where = traceback.extract_tb(e.__traceback__)[-1] if not isinstance(e, harness.Fail) else None
        result = "fail", "%s%s" % (e if where is None else repr(e), " (%s:%d)" % where[:2] if where else "")
    finally:
        test.close()
    return (name,) + result + (time.monotonic() - begin, test.facts)


def write_table(path, facts):
    """FACTS is {interpreter: {figure: text}}."""
    columns = sorted({c for f in facts.values() for c in f})
    with open(path, "w") as f:
        f.write("| interpreter | %s |\n|%s\n" % (" | ".join(columns), "---|" * (len(columns) + 1)))
        for name in sorted(facts):
            f.write("| %s | %s |\n" % (name, " | ".join(facts[name].get(c, "") for c in columns)))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--pythons", metavar="FILE")
    p.add_argument("--full", action="store_true", help="the tests that take long, too")
    p.add_argument("--only-full", action="store_true", help="only those")
    p.add_argument("--table", metavar="FILE", help="write what was measured, one row an interpreter")
    p.add_argument("-j", type=int, default=2, help="how many at a time")
    p.add_argument("-k", default="", metavar="TEXT", help="only tests whose name holds TEXT")
    p.add_argument("-v", action="store_true", help="name the tests that pass, too")
    a = p.parse_args()
    harness.raise_limits()
    if not shutil.which(harness.PYSTILL):
        sys.exit("run.py: no program %s: set PYSTILL" % harness.PYSTILL)
    pythons = [harness.system_python()]
    if a.pythons:
        with open(a.pythons) as f:
            pythons = harness.read_pythons(f)
    lengths = {True} if a.only_full else {False, True} if a.full else {False}
    todo = plan(load_tests(), pythons, lengths, a.k)
    count = {"pass": 0, "fail": 0, "skip": 0}
    table = {}
    for python in pythons:
        if python.unsupported():
            count["skip"] += 1
            print("skip all of %s: %s" % (python.name, python.unsupported()), flush=True)
    with concurrent.futures.ThreadPoolExecutor(a.j) as pool:
        jobs = {pool.submit(run_one, *t): t[2].name for t in todo}
        for job in concurrent.futures.as_completed(jobs):
            name, result, text, seconds, facts = job.result()
            count[result] += 1
            if facts:
                table.setdefault(jobs[job], {}).update(facts)
            if result != "pass" or a.v:
                print("%s %s%s (%.1f s)" % (result, name, ": " + text if text else "", seconds), flush=True)
    if a.table:
        write_table(a.table, table)
    print("%(pass)d passed, %(fail)d failed, %(skip)d skipped" % count)
    sys.exit(1 if count["fail"] or not any(count.values()) else 0 if count["pass"] else 77)


if __name__ == "__main__":
    main()
