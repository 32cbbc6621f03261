"""Each number on report.html's screen against the cell of the mount's tables that it claims to be (law.mjs): equal to the
digits that are shown. Knows nothing of how the page got it."""
import csv
import datetime
import functools
import json
import os
import re

NS = {"s": 1e9, "sec": 1e9, "ms": 1e6, "msec": 1e6, "µs": 1e3, "usec": 1e3, "us": 1e3, "ns": 1, "nsec": 1, "seconds": 1e9}
SIZES = {"TiB": 2 ** 40, "GiB": 2 ** 30, "MiB": 2 ** 20, "KiB": 2 ** 10, "B": 1, "P": 1e15, "T": 1e12, "G": 1e9, "M": 1e6, "k": 1e3, "": 1, **NS}
NEGLIGIBLE = 2 ** -40  # of the whole: shown as 0


def as_shown(text):
    """`6.448 s` → (6448000000.0, half of its last digit in ns)"""
    if re.match(r"^\d{4}-\d\d-\d\dT", text):
        return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp() * 1e9, 1e6
    if text.endswith("%"):
        digits = text.rstrip("%")
        return (0.0, 5.01e-5) if text == "≈0%" else (float(digits) / 100, 0.005 * 10.0 ** -len((digits.split(".") + [""])[1]))
    match = re.match(r"^(-?[\d,]+(?:\.(\d+))?(?:e([+-]\d+))?)(?: (\S+?))?(?:/s)?(?: .*)?$", text)
    if not match:
        raise ValueError(f"{text!r} is no number")
    size = SIZES.get(match.group(4) or "", 1)
    # Numbers without a unit have four significant digits, of which zeros at the end are not written.
    number = float(match.group(1).replace(",", ""))
    half = 0.5 * 10.0 ** (int(match.group(3) or 0) - len(match.group(2) or ""))
    return number * size, max(half, 5e-4 * abs(number) if not match.group(4) and "." in match.group(1) else 0) * size


class Tables:
    """The tables of a mount."""

    def __init__(self, folder):
        self.folder = folder

    @functools.lru_cache(maxsize=None)
    def rows(self, path):
        with open(os.path.join(self.folder, path), newline="", encoding="utf-8", errors="replace") as f:
            return list(csv.DictReader(f))

    @functools.lru_cache(maxsize=None)
    def by(self, path, keys):
        found = {}
        for row in self.rows(path):
            found.setdefault(tuple(row[k] for k in keys), []).append(row)
        return found

    def matching(self, path, want):
        if "context" in want:  # the number of a row of contexts.csv
            want = {"context_id": self.rows(self.base(path) + "contexts.csv")[want["context"]]["context_id"]}
        want = {k: "" if v is None or (k == "line" and v == 0) else str(v) for k, v in want.items()}
        return self.by(path, tuple(sorted(want))).get(tuple(want[k] for k in sorted(want)), [])

    @staticmethod
    def base(path):
        match = re.match(r"^((?:\.\./|windows/)[^/]+/)", path)
        return match.group(1) if match else ""

    @functools.lru_cache(maxsize=None)
    def unit(self, column):
        """Of a column: ns for times, 1 for anything else."""
        units = {row.get("column"): row.get("unit") for row in self.rows("metrics.csv")} if os.path.exists(os.path.join(self.folder, "metrics.csv")) else {}
        if column.endswith("_ratio") or "_per_sec" in column:
            return 1
        if column in units:
            return NS.get(units[column], 1)
        return next((NS[unit] for unit in ("sec", "ns") if re.search(rf"_{unit}(_|$)", column)), 1)

    def values(self, path, row, column):
        """What a claim may be: the cells of the rows that it names, or one sum."""
        number = lambda r: float(r[column]) if r[column] else None  # noqa: E731
        if row.startswith("sum="):
            cells = [number(r) for r in self.matching(path, json.loads(row[4:])) if number(r) is not None]
            return [sum(cells)] if cells else []
        if row.startswith("up="):  # own cost of contexts whose path of functions ends so: of a caller and a callee, callers.csv has it
            callee, caller = json.loads(row[3:])[:2]
            calls = {}  # by functions: several may have one name
            for r in self.matching(self.base(path) + "callers.csv", {"caller": caller, "callee": callee}):
                calls.setdefault((r["caller_id"], r["callee_id"]), []).append(r)
            return [self.added(rows, column) for rows in calls.values()]
        found = self.matching(path, json.loads(row)) if row.startswith("{") else [self.rows(path)[int(row)]]
        return [number(r) for r in found]

    def added(self, rows, column):
        """What is derived does not add up: it is derived of what adds up."""
        text = {row["column"]: row["name"] for row in self.rows("metrics.csv") if row["scope"] == "derived"}.get(column)
        if not text or len(rows) == 1:
            return sum(float(r[column]) for r in rows if r[column])
        side = re.search("_(excl|incl)$", column).group()
        of = lambda m: repr(self.added(rows, m.group() + side if m.group() + side in rows[0] else m.group()))  # noqa: E731
        return eval(re.sub(r"[a-z_]\w*", of, text.split(" = ")[1]))

    @functools.lru_cache(maxsize=None)
    def wholes(self, column, base=""):
        """What the whole may be: own costs over the functions, what is at the top of the tree, all values, what threads add
        up to (code outside of functions is in no function); with the time of windows in which nothing runs."""
        stem = re.sub("_(incl|excl)$", "", column)
        if not os.path.exists(os.path.join(self.folder, base, "categories.csv")):
            return [0]  # of several runs
        functions, contexts = self.rows(base + "functions.csv"), self.rows(base + "contexts.csv")
        total = lambda rows, c: sum(float(r[c]) for r in rows if r.get(c))  # noqa: E731
        found = [total(rows, name) for rows, name in ((functions, stem + "_excl"), ([r for r in contexts if r["depth"] == "0"], stem + "_incl"), (functions, stem), (contexts, stem))]
        if os.path.exists(os.path.join(self.folder, base, "threads.csv")):
            found.append(total(self.rows(base + "threads.csv"), column))
        found = [v for v in found if v]
        return found[:1] + found[-1:] if found else [0]

    @functools.lru_cache(maxsize=None)
    def idle(self, column, of):
        """What of a whole is the time in which nothing runs, by contexts.csv, or profile.csv of a thread: shares are of the rest."""
        own = re.sub("_incl$", "_excl", column)
        return sum(float(r[own]) for r in self.rows(of) if r["context_id"] == "0" and r.get(own)) if os.path.exists(os.path.join(self.folder, of)) else 0


def close(shown, value, unit, slack):
    number, half = as_shown(shown)
    return abs(number - value * unit) <= half * (1 + 1e-6) + slack * unit + 1e-9 * abs(number)


def violations(shown, folder):
    """Sentences, one for each number on screen that is not the table's."""
    tables, found = Tables(folder), []

    def check(text, claim, judge):
        path, row, column = re.match(r"^([^|]*)\|(.*)\|([^|]*)$", claim, re.S).groups()
        try:
            values = tables.values(path, row, column)
            if not any(v is not None and judge(v, column, tables.base(path), path) for v in values):
                found.append(f"{text!r} for {claim}: {values[:4]}")
        except (OSError, KeyError, IndexError, ValueError) as error:
            found.append(f"{text!r} for {claim}: {error!r}")

    for text, claim in shown["cells"]:
        check(text, claim, lambda v, column, base, path, text=text: close(text, v, tables.unit(column), NEGLIGIBLE * max(map(abs, tables.wholes(column, base))) if re.match(r"^0( |$)", text) else 0))
    for text, claim, whole in shown["shares"]:
        def judge(v, column, base, path, text=text, whole=whole):
            idle = 0 if path == base + "threads.csv" else tables.idle(column, base + "contexts.csv")
            right = [w - idle for w in tables.wholes(column, base)]
            for thread in tables.rows(base + "threads.csv") if path.endswith("/functions.csv") else []:
                main = re.sub("_excl$", "_incl", column) if re.sub("_excl$", "_incl", column) in thread else column
                if path == f"{base}{thread['path']}/functions.csv":
                    right.append(float(thread[main] or 0) - tables.idle(main, f"{base}{thread['path']}/profile.csv"))
            if not any(abs(whole - r) <= 1e-9 * abs(r) for r in right):
                return False
            percent = 100 * v / whole
            if text == "≈0%":
                return 0 < percent < 0.00501
            return abs(float(text.rstrip("%")) - percent) <= 0.5 * 10.0 ** -len((text.rstrip("%").split(".") + [""])[1]) * (1 + 1e-6) + 1e-9
        check(text, claim, judge)
    for text, column, whole in shown["totals"]:
        # Of the run, or of the window at hand.
        if not close(text, whole, tables.unit(column), 0):
            found.append(f"{text!r} for {whole} {column}")
    for text, path in shown["rows"]:
        if int(text.replace(",", "")) != len(tables.rows(path)):
            found.append(f"{text} rows of {path}: {len(tables.rows(path))}")
    for seq, told in shown["args"]:
        wanted = json.loads(tables.matching("raw/events.csv", {"seq": seq})[0]["args"])
        if told != [[k, v if isinstance(v, str) and v else json.dumps(v, separators=(",", ":"))] for k, v in wanted.items()]:
            found.append(f"{told} for event {seq}: {wanted}")
    for time, thread, names in shown["times"]:
        if names and not ran(tables, time, thread, names):
            found.append(f"{thread} at {time} ns: {names}")
    return found


def ran(tables, time, thread, names):
    """Whether the thread's trace has this call path within what a column of pixels covers, around that time."""
    contexts = {row["context_id"]: row for row in tables.rows("contexts.csv")}
    rows = tables.rows(os.path.join(thread, "trace.csv"))
    span = max(float(r["time_ns"]) + float(r["duration_ns"] or 0) for r in rows) - min(float(r["time_ns"]) for r in rows)
    for row in rows:
        begin, end = float(row["time_ns"]), float(row["time_ns"]) + float(row["duration_ns"] or 0)
        if begin <= time + span / 500 and end >= time - span / 500 and row["context_id"] in contexts:
            path, at = [], contexts[row["context_id"]]
            while at:
                path.insert(0, at["name"])
                at = contexts.get(at["parent_id"])
            if path == [n for n in names]:
                return True
    return False
