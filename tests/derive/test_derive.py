#!/usr/bin/env python3
"""Derived metrics: in every table of every format they are what their formula says of the row's own cells.

    test_derive.py PROFMOUNT SOURCES SAMPLE
"""
import csv
import io
import json
import math
import os
import shutil
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

    def test_pictures(self):
        """What adds up has widths of its own; of what does not, boxes have colours."""
        page = run(*options(IPC, "derive=both=papi_tot_ins/2 + papi_tot_cyc", "derive=less=papi_tot_cyc - 9*papi_tot_ins"),
                   "--cat", SAMPLE, "export/flamegraph.html")
        data = json.loads(page.split('<script id="data" type="application/json">')[1].split("</script>")[0])
        path, parent = [0], [0]
        for climbed in data["tree"][1::2]:
            del path[len(path) - climbed:]
            parent.append(path[-1])
            path.append(len(parent) - 1)
        of = {metric["column"]: metric for metric in data["metrics"]}

        def own(column):
            costs = []
            for value in of[column]["values"]:
                costs += [value] if value > 0 else [0] * -value
            self.assertEqual(len(costs), len(parent))
            return costs

        def totals(column):
            costs = own(column)
            for i in range(len(parent) - 1, 0, -1):
                costs[parent[i]] += costs[i]
            return costs

        def shown(metric):
            values = []
            for value in metric["shown"]:
                values += [math.nan] * value[0] if isinstance(value, list) else [value]
            return values
        self.assertEqual(own("both_incl"), [i / 2 + c for i, c in zip(own("papi_tot_ins"), own("papi_tot_cyc"))])
        self.assertIn("widths", of["less_incl"])
        self.assertEqual(shown(of["less_incl"])[0], totals("papi_tot_cyc")[0] - 9 * totals("papi_tot_ins")[0])
        ipc = of["ipc_incl"]
        self.assertTrue(data["metrics"][ipc["widths"]]["first"])
        want = [quotient(i, c) for i, c in zip(totals("papi_tot_ins"), totals("papi_tot_cyc"))]
        drawn = totals("cputime_ns")
        for letter, value, is_drawn, said in zip(ipc["shades"], want, drawn, shown(ipc)):
            self.assertTrue(said == value or (math.isnan(said) and not is_drawn), (said, value))
            red, blue = letter in "BCDEFGHIJKLMNOP", letter in "QRSTUVWXYZabcde"
            self.assertEqual((red, blue), (value > want[0], value < want[0]), (letter, value, want[0]))
        self.assertGreater(len(set(ipc["shades"])), 2)

    def test_pictures_of_own_costs_and_counts(self):
        """They are of a box alone, and of the whole are their sums; one may be computed of another."""
        source = os.path.join(SOURCES, "nytprof.out")
        rows = table(source, "functions.csv")
        want = sum(number(row["time_ns_excl"] or "0") for row in rows) / sum(number(row["calls"] or "0") for row in rows)
        page = run(*options("derive=each=time_ns/calls", "derive=us=each/1000"), "--cat", source, "export/flamegraph.html")
        of = {metric["column"]: metric for metric in json.loads(page.split('"application/json">')[1].split("</script>")[0])["metrics"]}
        self.assertAlmostEqual(of["each_incl"]["shown"][0] / want, 1, 6)
        self.assertAlmostEqual(of["us_incl"]["shown"][0] * 1000 / want, 1, 6)
        self.assertGreater(len(set(of["each_incl"]["shades"])), 2)

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

YAML = """version: 0
inputs:
  - &time-i {metric}CPUTIME (sec)
    scope: execution
    formula: $$
    combine: sum
  - &time-l
    metric: CPUTIME (sec)
    scope: lex_aware
    formula: $$
    combine: sum
  - &time-f
    metric: CPUTIME (sec)
    scope: function
    formula: $$
    combine: sum
  - &cyc-i
    metric: PAPI_TOT_CYC
    scope: execution
    formula: $$
    combine: sum
  - &cyc-l
    metric: PAPI_TOT_CYC
    scope: lex_aware
    formula: $$
    combine: sum
  - &cyc-f
    metric: PAPI_TOT_CYC
    scope: function
    formula: $$
    combine: sum
  - &most
    metric: PAPI_TOT_CYC
    scope: function
    formula: $$
    combine: max
  - &unknown
    metric: NO_SUCH
    scope: function
    formula: $$
    combine: sum
roots:
  - name: CPUTIME (sec)
    description: CPUTIME (sec)
    variants:
      Sum:
        render: [number, percent]
        formula:
          inclusive: *time-i
          exclusive:
            custom: *time-l
            standard: *time-f
    children:
      - name: GHZ
        description: "rate: cycles of a ns"
        format: "%6.2f"
        variants:
          "":
            render: [number]
            formula:
              inclusive: &ghz
                standard: {/: [*cyc-i, {"*": [*time-i, 1000000000]}]}
              exclusive:
                custom: {/: [*cyc-l, {"*": [*time-l, 1000000000]}]}
                standard: {/: [*cyc-f, {"*": [*time-f, 1000000000]}]}
          Mean:
            formula:
              exclusive:
                standard: {strict floor: [[2, *, *cyc-f]]}
  - name: LEAST
    variants:
      Sum:
        formula:
          exclusive: {min: [100, {max: [0, {^: [*time-f, 2]}]}]}
""".replace("{metric}", "\n    metric: ")


class OfDatabases(unittest.TestCase):
    """Of metrics/default.yaml of HPCToolkit's databases."""

    def database(self, text):
        folder = tempfile.mkdtemp(prefix="derive-")
        self.addCleanup(shutil.rmtree, folder)
        path = os.path.join(folder, "sample")
        shutil.copytree(SAMPLE, path)
        os.makedirs(os.path.join(path, "metrics"), exist_ok=True)
        with open(os.path.join(path, "metrics", "default.yaml"), "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def test_columns(self):
        path = self.database(YAML)
        for name in ("functions.csv", "contexts.csv", "lines.csv", "threads.csv", "categories.csv", "callers.csv", "modules.csv",
                     "threads/node=0/rank=0/thread=1/profile.csv", "focus/step*/functions.csv", "hide/MPI_*/contexts.csv",
                     "by-id/3/children.csv", "by-id/3/threads.csv"):
            rows, plain = table(path, name), table(SAMPLE, name)
            self.assertTrue(rows)
            self.assertEqual(len(rows), len(plain))
            for row, was in zip(rows, plain):
                self.assertFalse([column for column in row if "papi_tot_cyc" in column])
                self.assertEqual({k: v for k, v in was.items() if "papi_tot_cyc" not in k}, {k: row[k] for k in was if k in row})
                for side in ("_excl", "_incl"):
                    time, cycles = number(was["cputime_sec" + side]), number(was["papi_tot_cyc" + side])
                    want = quotient(cycles, time * 1e9)
                    self.assertTrue(number(row["ghz" + side]) == want or (math.isnan(want) and row["ghz" + side] == ""), (name, row))
                cycles, time = number(was["papi_tot_cyc_excl"]), number(was["cputime_sec_excl"])
                self.assertEqual(row["ghz_mean_excl"] and float(row["ghz_mean_excl"]), "" if math.isnan(cycles) else 2 * cycles - 1)
                self.assertEqual(row["least_excl"] and float(row["least_excl"]), "" if math.isnan(time) else min(100, max(0, time**2)))

    def test_what_tells_of_them(self):
        path = self.database(YAML)
        rows = [r for r in table(path, "metrics.csv") if r["scope"] == "derived"]
        self.assertEqual([(r["metric_id"], r["column"], r["name"]) for r in rows],
                         [("", "ghz_excl", "GHZ: rate: cycles of a ns"), ("", "ghz_incl", "GHZ: rate: cycles of a ns"),
                          ("", "ghz_mean_excl", "GHZ Mean: rate: cycles of a ns"), ("", "least_excl", "LEAST")])
        self.assertEqual({r["column"] for r in table(path, "metrics.csv") if r["name"] == "PAPI_TOT_CYC"}, {""})
        self.assertIn("derived  ghz ", run("--cat", path, "summary.txt"))
        sized = table(self.database(YAML.replace("name: LEAST", "name: LEAST (B)")), "metrics.csv")
        self.assertEqual([(r["column"], r["unit"]) for r in sized if r["name"] == "LEAST (B)"], [("least_b_excl", "B")])
        self.assertEqual(table(path, "damage.csv"), [])
        self.assertNotIn("papi_tot_cyc", "\n".join(listed(path, "export")) + run("--cat", path, "summary.json"))

    def test_what_is_not_visible_by_default_comes_last(self):
        """But for what leads."""
        def columns(hidden):
            invisible = "    visible by default: false\n"
            cycles = f"""  - name: PAPI_TOT_CYC
{invisible if "cycles" in hidden else ""}    variants:
      Sum:
        formula:
          inclusive: *cyc-i
          exclusive:
            custom: *cyc-l
            standard: *cyc-f
"""
            time = "  - name: CPUTIME (sec)\n"
            text = YAML.replace(time, cycles + time + (invisible if "time" in hidden else ""))
            header = run("--cat", self.database(text), "functions.csv").split("\n", maxsplit=1)[0].split(",")
            return [name for name in header if name in ("cputime_sec_excl", "papi_tot_cyc_excl", "papi_tot_ins_excl")]
        time, cycles, instructions = columns("")
        self.assertEqual((time, cycles), ("cputime_sec_excl", "papi_tot_cyc_excl"))
        self.assertEqual(columns("time"), [time, cycles, instructions])
        self.assertEqual(columns("time, cycles"), [time, instructions, cycles])

    def test_all_metrics(self):
        path = self.database(YAML)
        plain = table(SAMPLE, "functions.csv")
        rows = table(path, "functions.csv", "metrics=all", "derive=double=2*papi_tot_cyc")
        for row, was in zip(rows, plain):
            self.assertEqual(was, {k: row[k] for k in was})
            self.assertIn("ghz_excl", row)
        inputs = table(path, "functions.csv", "derive=double=2*papi_tot_cyc")
        self.assertEqual([r["double_excl"] for r in inputs], [r["double_excl"] for r in rows])

    def test_several_runs(self):
        path = self.database(YAML)
        done = run("--cat", "a=" + path, "b=" + SAMPLE, "--", "compare/b/functions.csv")
        header = done.split("\n", maxsplit=1)[0]
        self.assertIn("ghz_excl_base", header)
        self.assertIn("papi_tot_cyc_excl_base", header)  # one of them shows it
        self.assertIn("least_excl_base", header)
        self.assertIn("ghz_excl", run("--cat", "a=" + path, "b=" + SAMPLE, "--", "runs/run=a/functions.csv").split("\n", maxsplit=1)[0])

    def test_inputs_without_columns_in_comparisons(self):
        path, other = self.database(YAML), self.database(YAML)
        for name, key in (("functions", "name"), ("lines", "line"), ("modules", "module"), ("files", "file"), ("categories", "category"),
                          ("contexts", "name"), ("callers", "callee")):
            rows = list(csv.DictReader(io.StringIO(run("--cat", "a=" + path, "b=" + other, "--", f"compare/b/{name}.csv"))))
            plain = sorted(r["ghz_incl"] for r in table(path, name + ".csv"))
            self.assertEqual([column for column in rows[0] if "papi_tot_cyc" in column], [])
            self.assertTrue(any(r["ghz_incl_base"] for r in rows), name)
            if name not in ("contexts", "lines"):  # others have rows of their own
                self.assertEqual(sorted(r["ghz_incl_base"] for r in rows), plain, name)
            for row in rows:
                self.assertEqual((row["ghz_incl"], row["ghz_incl_diff"]), (row["ghz_incl_base"], row["ghz_incl"] and "0"), (name, row[key]))
        rows = list(csv.DictReader(io.StringIO(run("--cat", "a=" + path, "b=" + other, "--", "compare/b/metrics.csv"))))
        self.assertEqual([r["quantity"] for r in rows if "papi_tot_cyc" in r["quantity"]], [])
        self.assertIn("ghz", [r["quantity"] for r in rows])
        self.assertNotIn("papi_tot_cyc", run("--cat", "a=" + path, "b=" + other, "--", "compare/b/summary.txt"))
        self.assertNotIn("papi_tot_cyc", run("--ls", "a=" + path, "b=" + other, "--", "compare/b/export"))

    def test_what_cannot_be_computed(self):
        head, roots = YAML.split("roots:")
        start = len(head) + len("roots:\n")
        for formula, said in (("sum", "its formula, from those of its children, is not computed"),
                              ("{exclusive: *time-f}", "its formula, from those of its children, is not computed"),
                              ("\n          exclusive: {/: [*most, 2]}", "its formula is of another statistic than the sum"),
                              ("\n          exclusive: {/: [*unknown, 2]}", "its formula is of a metric that is not in meta.db"),
                              ("\n          exclusive: {/: [*nobody, 2]}", "its formula is none that can be computed"),
                              ("\n          exclusive: {/: [*cyc-f, *time-i]}", "its formula is of costs in a scope that no column has"),
                              ("\n          exclusive: {gcd: [*cyc-f, 2]}", "its formula is none that can be computed"),
                              ("\n          exclusive: {/: [*cyc-f", "its formula is none that can be computed"),
                              ("\n          exclusive: " + "[" * 100 + "1" + "]" * 100, "its formula is none that can be computed"),
                              ("\n          exclusive:\n            custom: {/: [*cyc-l, 2]}", "it has no formula for flat tables"),
                              ("\n          exclusive:\n            custom: {/: [*cyc-l, 2]}\n            standard: {/: [*cyc-f, 3]}",
                               "its formulas for trees and for flat tables differ")):
            with self.subTest(formula=formula):
                path = self.database(f"{head}roots:\n  - name: BAD\n    variants:\n      Sum:\n        formula: {formula}\n{roots}")
                rows = table(path, "damage.csv")
                self.assertEqual([(r["file"], r["what"]) for r in rows], [("metrics/default.yaml", "BAD: " + said)])
                self.assertGreaterEqual(int(rows[0]["offset"]), start)
                self.assertIn("ghz_excl", table(path, "functions.csv")[0])

    def test_a_file_that_must_not_be_read_is_said(self):
        path = self.database(YAML)
        file = os.path.join(path, "metrics", "default.yaml")
        os.remove(file)
        os.symlink("/etc/passwd", file)
        rows = [(r["file"], r["what"]) for r in table(path, "damage.csv")]
        self.assertIn("metrics/default.yaml", [f for f, _ in rows])
        self.assertTrue(all(what.startswith("cannot be opened: ") for f, what in rows if f == "metrics/default.yaml"))

    def test_what_is_no_taxonomy(self):
        plain = table(SAMPLE, "functions.csv")
        texts = ["", "\n", "roots:", "inputs:\n", "- - - -\n", "&", "  - &a\n", ": : :\n", "{" * 1000, "\0\0\n", "roots:\n" + "".join(
            " " * i + "a:\n" for i in range(200))] + [YAML[:n] for n in range(0, len(YAML), 61)]
        for text in texts:
            with self.subTest(text=text[-40:]):
                path = self.database(text)
                rows = table(path, "functions.csv")
                self.assertEqual([r["name"] for r in rows], [r["name"] for r in plain])
                if "roots:" not in text:
                    self.assertEqual([(r["offset"], r["what"]) for r in table(path, "damage.csv")],
                                     [("0", "roots: is not in the file: no metric is derived")])

    def test_corpus(self):
        """What NVIDIA's own tools say of these launches."""
        shared = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "shared")
        for source, name, want in (("corpus/hpctoolkit/data/r2024.01-loops-cuda-nvidiapc-t", "kernmain()", (32, 32, 12.5)),
                                   ("cases/hpctoolkit/saxpy", "saxpy", (512, 26, 100))):
            path = os.path.join(shared, source)
            if not os.path.isdir(path):
                self.skipTest(f"SKIPPED: {source} is not here")
            row = next(r for r in table(path, "functions.csv") if r["name"].startswith(name))
            self.assertEqual(tuple(number(row[f"gker_{c}_excl"]) for c in ("blks", "thr_reg", "occ_thr")), want)
            self.assertFalse([column for column in row if "acumu" in column])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
