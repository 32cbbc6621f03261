#!/usr/bin/env python3
"""Derived metrics: in every table of every format they are what their formula says of the row's own cells.

    test_derive.py PROFMOUNT SOURCES SAMPLE
"""
import csv
import io
import math
import os
import subprocess
import sys
import tempfile
import unittest

PROFMOUNT, SOURCES, SAMPLE = (os.path.abspath(p) for p in sys.argv[1:4])
TABLES = ("contexts", "functions", "lines", "files", "modules", "callers", "cycles", "cycle-members", "categories", "threads", "ranks")
IPC = "derive=ipc=papi_tot_ins/papi_tot_cyc"
EVEN = SAMPLE + "-even"


def start(*args):
    return subprocess.run([PROFMOUNT, *args], capture_output=True, text=True, timeout=120, check=False)


def run(*args):
    done = start(*args)
    assert done.returncode == 0, (args, done.returncode, done.stderr)
    return done.stdout


def options(*all):
    return [word for option in all for word in ("-o", option)]


def table(source, path, *more):
    return list(csv.DictReader(io.StringIO(run(*options(*more), "--cat", source, path))))


def listed(source, where="", *more):
    return [name.rstrip("/") for name in run(*options(*more), "--ls", source, *([where] if where else [])).split("\n")]


def number(text):
    return float(text) if text else math.nan


def quotient(a, b):
    return a / b if b else math.nan


class Derived(unittest.TestCase):
    def cell(self, row, stem, side):
        return number(row[stem + side] if stem + side in row else row[stem])

    def equal(self, got, want, what):
        self.assertTrue(number(got) == want or (math.isnan(want) and got == ""), (what, got, want))

    def of_rows(self, source, path, stems, *more):
        """Of all rows: q = a/b, s = a - 2*b + q. Returns how many of them have a column q."""
        a, b = stems[0], stems[-1]
        rows, found = table(source, path, f"derive=q={a}/{b}", f"derive=s={a} - 2*{b} + q", *more), 0
        for row in rows:
            for side in ("_excl", "_incl"):
                if "q" + side not in row:
                    continue
                x, y = self.cell(row, a, side), self.cell(row, b, side)
                q = quotient(x, y)
                self.equal(row["q" + side], q, (source, path, row))
                self.equal(row["s" + side], x - 2 * y + q, (source, path, row))
                found += 1
        return found

    def test_each_format(self):
        formats = set()
        for name in sorted(os.listdir(SOURCES)) + [SAMPLE]:
            source = os.path.join(SOURCES, name)
            done = start("--cat", source, "metrics.csv")
            if done.returncode or not done.stdout.startswith("metric_id,"):
                continue  # a folder of runs
            names = [row["column"] for row in csv.DictReader(io.StringIO(done.stdout)) if row["column"]]
            stems = list(dict.fromkeys(n[:-5] if n.endswith(("_incl", "_excl")) else n for n in names))
            with self.subTest(source=name):
                here, found = listed(source), 0
                for one in TABLES:
                    if one + ".csv" in here:
                        found += self.of_rows(source, one + ".csv", stems)
                self.assertGreater(found, 0)
                formats.add(name)
        self.assertGreater(len(formats), 20)

    def test_places(self):
        stems = ["papi_tot_ins", "papi_tot_cyc"]
        for path in ("threads/node=0/rank=0/thread=1/profile.csv", "threads/node=0/rank=0/thread=1/functions.csv",
                     "focus/step*/functions.csv", "hide/MPI_*/contexts.csv", "by-id/3/children.csv", "by-id/3/threads.csv",
                     "by-id/3/functions.csv", "threads/node=0/rank=0/thread=0/focus/relax*/contexts.csv"):
            with self.subTest(path=path):
                self.assertGreater(self.of_rows(SAMPLE, path, stems), 0)
        self.assertGreater(self.of_rows(SAMPLE, "functions.csv", stems, "focus=step*"), 0)

    def test_totals_are_not_sums(self):
        rows = table(SAMPLE, "categories.csv", IPC)
        self.assertIn("derived  ipc 0.7655", run(*options(IPC), "--cat", SAMPLE, "summary.txt"))
        self.assertAlmostEqual(number(rows[0]["ipc_excl"]), 0.92857, places=5)

    def test_windows_have_time_alone(self):
        rows = table(SAMPLE, "windows/1s-1.5s/functions.csv", IPC)
        self.assertTrue(rows and "ipc_excl" not in rows[0])

    def test_where_there_is_none(self):
        names = "\n".join(listed(SAMPLE, "export", IPC))
        self.assertNotIn("ipc", names)
        self.assertNotIn("ipc", run(*options(IPC), "--cat", SAMPLE, "imbalance.csv").split("\n")[0])

    def test_metrics_lists_them(self):
        rows = [r for r in table(SAMPLE, "metrics.csv", IPC, "derive=low=min(ipc\\,1)") if r["scope"] == "derived"]
        self.assertEqual([(r["metric_id"], r["column"], r["unit"], r["name"]) for r in rows],
                         [("", "ipc_excl", "", "ipc = papi_tot_ins/papi_tot_cyc"), ("", "ipc_incl", "", "ipc = papi_tot_ins/papi_tot_cyc"),
                          ("", "low_excl", "", "low = min(ipc,1)"), ("", "low_incl", "", "low = min(ipc,1)")])

    def test_comparisons(self):
        def compared(path, *more):
            return list(csv.DictReader(io.StringIO(run(*options(IPC, "derive=twice=2*ipc", *more), "--cat", SAMPLE, EVEN, "--", path))))
        for path in ("functions.csv", "contexts.csv", "lines.csv", "modules.csv", "callers.csv", "categories.csv"):
            rows = compared("compare/heat-even/" + path)
            self.assertTrue(rows)
            for row in rows:
                for side in ("_excl", "_incl"):
                    ends = ("_base", "")
                    ipc = [quotient(number(row[f"papi_tot_ins{side}{e}"]), number(row[f"papi_tot_cyc{side}{e}"])) for e in ends]
                    for value, end in zip(ipc, ends):
                        self.equal(row[f"ipc{side}{end}"], value, (path, row))
                        self.equal(row[f"twice{side}{end}"], 2 * value, (path, row))
                    self.equal(row[f"ipc{side}_diff"], ipc[1] - ipc[0], (path, row))
                    self.equal(row[f"ipc{side}_ratio"], quotient(ipc[1], ipc[0]), (path, row))
        rows = {row["quantity"]: row for row in compared("compare/heat-even/metrics.csv")}
        for side in ("base", "value"):
            self.equal(rows["ipc"][side], number(rows["papi_tot_ins"][side]) / number(rows["papi_tot_cyc"][side]), side)
        self.assertIn("ipc_excl", compared("runs/run=heat-even/functions.csv")[0])
        self.assertNotIn("ipc_excl", compared("compare/heat-even/functions.csv", "normalize")[0])
        said = run(*options("derive=none=a/b"), "--cat", SAMPLE, EVEN, "--", "summary.txt")
        self.assertIn("no run has the quantities of -o derive=none", said)

    def test_functions_of_several_runs(self):
        """Derived columns stand between costs and percentiles, in the runs' own tables and in that of all of them."""
        store = os.path.join(SOURCES, "new.htdump")
        own = table(store, "functions.csv", "derive=each=time_ns/calls")
        done = run(*options("derive=each=time_ns/calls"), "--cat", "a=" + store, "b=" + SAMPLE, "--", "functions.csv")
        rows = [row for row in csv.DictReader(io.StringIO(done)) if row["run"] == "a"]
        self.assertIn("p99_ns", own[0])
        self.assertEqual(len(rows), len(own))
        for row, one in zip(rows, own):
            self.assertEqual({k: row[k] for k in one}, one)

    def test_recipes_name_columns(self):
        """That of the 99th percentile names its column by number."""
        store = os.path.join(SOURCES, "new.htdump")
        said = run(*options("derive=each=time_ns/calls"), "--cat", store, "recipes.txt")
        column = int(said.split("99th percentile")[1].split("$NF")[0].split("$")[2].split(" ")[0])
        header = run(*options("derive=each=time_ns/calls"), "--cat", store, "functions.csv").split("\n")[0].split(",")
        self.assertEqual(header[column - 1], "p99_ns")

    def test_one_run_lacks_a_quantity(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "a.folded")
            with open(path, "w", encoding="utf-8") as file:
                file.write("main;f 4\n")
            rows = list(csv.DictReader(io.StringIO(run(*options("derive=half=count/2"), "--cat", "a=" + path, "b=" + SAMPLE, "--",
                                                       "compare/b/functions.csv"))))
        row = next(r for r in rows if r["name"] == "f")
        self.assertEqual((row["half_excl_base"], row["half_excl"], row["half_excl_diff"]), ("2", "", ""))

    def test_refused(self):
        for text, said in (("ipc=papi_tot_ins/", "at character 14 of the formula: expected a number, a name or `(`"),
                           ("ipc=(a+b", "at character 5 of the formula: expected an operator or `)`"),
                           ("x=gcd(a)", "at character 1 of the formula, gcd(a): expected one of the functions min, max,"),
                           ("ipc=a/papi_tot_cyc", "no metric is named a: there are cputime_sec, papi_tot_cyc, papi_tot_ins"),
                           ("papi_tot_cyc=2*cputime_sec", "there is a metric named papi_tot_cyc"),
                           ("two=2", "no metric is named in it"), ("Ipc=a", "NAME=FORMULA is expected"), ("=a", "NAME=FORMULA is expected"),
                           ("ipc", "NAME=FORMULA is expected"), ("x=" + "(" * 5000 + "a", "less deeply")):
            done = start("-o", "derive=" + text, "--ls", SAMPLE)
            self.assertEqual((done.returncode in (1, 2), done.stdout, done.stderr.count("\n")), (True, "", 1), (text, done))
            self.assertIn(said, done.stderr)
        done = start(*options(IPC, IPC), "--ls", SAMPLE)
        self.assertIn("with a new NAME", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
