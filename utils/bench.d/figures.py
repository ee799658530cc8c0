"""The table: rows, and the bars among them."""
import json
import math
import statistics
import sys

class Figures:
    """The rows of the table, and the bars."""

    def __init__(self, options):
        self.rows, self.skipped, self.options = [], [], options

    def add(self, case, what, values, unit, bar=None, limit=None, note=""):
        """BAR is None, '<=' or '>=', 'within' (of 100) or '=='."""
        values = [v for v in values if v is not None and not math.isnan(v)]
        if not values:  # why is a line of its own; a bar must not be missed by the reader
            if bar:
                self.skip("%s, %s" % (case, what), "nothing was measured")
            return
        middle = statistics.median(values)
        row = {"case": case, "what": what, "median": middle, "least": min(values), "greatest": max(values),
               "unit": unit, "values": values, "note": note}
        if bar:
            met = {"<=": middle <= limit, ">=": middle >= limit, "==": max(values) == limit,
                   "within": abs(middle - 100) <= limit}[bar]
            row.update(bar="%s %g" % (bar, limit), met=met)
        self.rows.append(row)
        print("  " + self.line(row), flush=True)

    def line(self, r):
        verdict = "" if "bar" not in r else "%s (%s)" % ("PASS" if r["met"] else "MISS", r["bar"])
        return "%-34s %-44s %9s %-4s [%s .. %s] %s %s" % (
            r["case"], r["what"], number(r["median"]), r["unit"], number(r["least"]), number(r["greatest"]), verdict,
            r["note"])

    def skip(self, what, why):
        if (what, str(why)) not in self.skipped:
            self.skipped.append((what, str(why)))
            print("skip %s: %s" % (what, why), file=sys.stderr, flush=True)

    def table(self):
        bars = [r for r in self.rows if "bar" in r]
        print("\nBars (median [least .. greatest] of the rounds)\n")
        for r in bars:
            print(self.line(r))
        for what, why in self.skipped:
            print("SKIP %s: %s" % (what, why))
        missed = [r for r in bars if not r["met"]]
        print("\n%d bars met, %d missed, %d skipped" % (len(bars) - len(missed), len(missed), len(self.skipped)))
        return not missed and not self.skipped

    def save(self, path, facts):
        with open(path, "w") as f:
            json.dump({"machine": facts, "rows": self.rows, "skipped": self.skipped}, f, indent=1)
            f.write("\n")


def number(x):
    if x == 0 or abs(x) >= 1000:
        return "%d" % round(x)
    return "%.3g" % x if abs(x) < 100 else "%.1f" % x


def ratios(ours, theirs):
    """Round by round; a round that either lacks is left out."""
    return [a / b for a, b in zip(ours, theirs) if a is not None and b is not None and b > 0]
