#!/usr/bin/env python3
"""export/profile.pb.gz of sources of every format, opened again, has their functions and costs; exports keep blanks in names;
differences are in the order of amounts.

    test_again.py PROFMOUNT SOURCES
"""
import csv
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest

PROFMOUNT, SOURCES = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])

# Of each format and kind of tree one. Databases of HPCToolkit are not here: the inclusive costs of the small ones are made up.
ALL = ("hpcrun", "nytprof-fork", "zts", "new.htdump", "nodes.cpuprofile", "sampled.speedscope.json", "evented.speedscope.json.gz",
       "callgrind.out", "cachegrind.out", "xdebug.out", "kineto.pt.trace.json.gz", "array.json", "devtools.json", "new.perf.data", "flat.folded",
       "threads.folded", "two.folded.gz", "cpu.pprof", "odd.pb.gz", "perf.script.txt")
GRAPHS = ("callgrind.out", "cachegrind.out", "nytprof-fork")  # stacks of a graph are its edges: inclusive costs are not of them
LOST = ("statements",)                          # contexts have none


def cat(source, path):
    done = subprocess.run([PROFMOUNT, "--cat", source, path], capture_output=True, timeout=600, check=False)
    assert done.returncode == 0, (source, path, done.stderr)
    return done.stdout


def functions(source, graph):
    """Of each function its costs: sums over all of a name; times in ns."""
    table = {}
    for row in csv.DictReader(io.StringIO(cat(source, "functions.csv").decode())):
        if row["name"].startswith("<cycle "):
            continue
        costs = table.setdefault(re.sub("[\t\r\n]", " ", row["name"]), {})
        for column, cell in row.items():
            column = column + "_excl" if column in ("calls", "errors") else column
            stem, _, kind = column.rpartition("_")
            if cell and (kind == "excl" or (kind == "incl" and not graph)) and stem not in LOST:
                name, factor = (stem[:-4] + "_ns", 1e9) if stem.endswith("_sec") else (stem, 1)
                costs[name, kind] = costs.get((name, kind), 0) + factor * float(cell)
    return table


class Again(unittest.TestCase):
    def test_names_that_end_in_numbers_are_no_second_quantity(self):
        for text, want in ((b"call 0 500\ncall 1 700\n", {"call 0": {("count", "excl"): 500, ("count", "incl"): 500},
                                                          "call 1": {("count", "excl"): 700, ("count", "incl"): 700}}),
                           (b"call 0 500\nother 1 700\n", {"call": {("before", "excl"): 0, ("before", "incl"): 0, ("after", "excl"): 500, ("after", "incl"): 500},
                                                            "other": {("before", "excl"): 1, ("before", "incl"): 1, ("after", "excl"): 700, ("after", "incl"): 700}})):
            with self.subTest(text), tempfile.NamedTemporaryFile(suffix=".folded") as f:
                f.write(text)
                f.flush()
                self.assertEqual({name: {k: v for k, v in costs.items() if v} for name, costs in functions(f.name, False).items()},
                                 {name: {k: v for k, v in costs.items() if v} for name, costs in want.items()})

    def test_functions_come_back(self):
        for name in ALL:
            with self.subTest(name), tempfile.TemporaryDirectory(prefix="profmount-again-") as folder:
                source, again, graph = os.path.join(SOURCES, name), os.path.join(folder, "again.pb.gz"), name in GRAPHS
                with open(again, "wb") as f:
                    f.write(cat(source, "export/profile.pb.gz"))
                want, got = functions(source, graph), functions(again, graph)
                self.assertTrue(want)
                self.assertLessEqual({f for f, costs in want.items() if any(costs.values())}, set(got))
                for function, costs in want.items():
                    for quantity, cost in costs.items():
                        if quantity not in (("calls", "incl"), ("errors", "incl")):
                            self.assertAlmostEqual(got.get(function, {}).get(quantity, 0), cost, delta=len(want) + 1e-9 * abs(cost),
                                                   msg=(function, quantity))

    def test_names_that_differ_in_blanks_come_back(self):
        with tempfile.TemporaryDirectory(prefix="profmount-again-") as folder:
            source = os.path.join(folder, "blanks.folded")
            with open(source, "w", encoding="utf-8") as f:
                f.write("operator ();a b 1\noperator ();a  b 2\n first;a b 4\nesc\x1b[1m;last ;a b 8\n")
            want = {name: costs.get(("count", "excl"), 0) for name, costs in functions(source, True).items()}
            self.assertEqual(len(want), 6)
            for name in ("count.collapsedstack.txt", "count.pb.gz", "callgrind.out.count"):
                again = os.path.join(folder, name)
                with open(again, "wb") as f:
                    f.write(cat(source, f"export/{name}"))
                got = {function: costs.get(("count", "excl"), 0) for function, costs in functions(again, True).items()}
                if "callgrind" in name:  # where names have none at their ends
                    want = {function.strip(): cost for function, cost in want.items()}
                self.assertEqual(got, want, name)

    def test_differences_are_ordered_by_amount(self):
        names, weights = ("a", "b", "c", "d"), (5, -9, 7, -1)
        whole = {"$schema": "https://www.speedscope.app/file-format-schema.json", "shared": {"frames": [{"name": n} for n in names]},
                 "profiles": [{"type": "sampled", "name": "x", "unit": "bytes", "startValue": 0, "endValue": 2,
                               "samples": [[i] for i in range(4)], "weights": weights}]}
        with tempfile.TemporaryDirectory(prefix="profmount-again-") as folder:
            source = os.path.join(folder, "difference.speedscope.json")
            with open(source, "w", encoding="utf-8") as f:
                json.dump(whole, f)
            for path in ("functions.csv", "contexts.csv"):
                rows = [(row["name"], row["weight_bytes_excl"]) for row in csv.DictReader(io.StringIO(cat(source, path).decode()))]
                self.assertEqual(rows, [("b", "-9"), ("c", "7"), ("a", "5"), ("d", "-1")])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
