#!/usr/bin/env python3
"""What only trace stores have in a window is of the traces that begin in it.

    test_windows.py PROFMOUNT SOURCE

SOURCE is the sample of tests/zts/writer.c: a trace with an error, an attribute and an exception at 0, another one at
5 ms, and one at 10 ms with a span of its own at 11 ms.
"""
import csv
import io
import subprocess
import sys
import unittest

PROFMOUNT, SOURCE = sys.argv[1:3]
FIRST = "20190516T094640.000-000000000000000100000000000000aa-0000000000000011"
SECOND = "20190516T094640.005-000000000000000100000000000000bb-0000000000000022"
TABLES = ["requests.csv", "attributes.csv", "statements.csv", "exceptions.csv", "spans.csv"]


def run(*args):
    return subprocess.run([PROFMOUNT, *args], capture_output=True, text=True, check=True).stdout


def cat(path):
    return run("--cat", SOURCE, path)


def rows(path):
    return list(csv.DictReader(io.StringIO(cat(path))))


class Windows(unittest.TestCase):
    def test_all_traces_have_the_tables_of_the_run(self):
        for table in TABLES:
            self.assertEqual(cat(f"windows/-/{table}"), cat(table), table)

    def test_each_has_what_begins_in_it(self):
        for table in TABLES:
            run_rows, first, rest = rows(table), rows(f"windows/0-5ms/{table}"), rows(f"windows/5ms-/{table}")
            if table == "requests.csv":
                for column, sums in (("traces", [1, 3]), ("errors", [1, 0])):
                    self.assertEqual([sum(int(row[column]) for row in half) for half in (first, rest)], sums)
            else:
                self.assertEqual((first, rest), (run_rows, []), table)
        self.assertEqual([row["kind"] for row in rows("spans.csv")], ["attribute", "exception"])

    def test_durations_are_whole(self):
        self.assertEqual(rows("windows/0-1ms/attributes.csv")[0]["max_ns"], "6553600")
        self.assertEqual(rows("windows/1ms-5ms/attributes.csv"), [])

    def test_links_lead_to_the_traces(self):
        to = "../../../stores/000000/traces/"
        self.assertEqual(run("--ls", SOURCE, "windows/0-5ms/errors"), f"{FIRST} -> {to}{FIRST}\n")
        self.assertEqual(run("--ls", SOURCE, "windows/5ms-/errors"), "")
        self.assertEqual(run("--ls", SOURCE, "windows/1ms-6ms/slow"), f"001-{SECOND} -> {to}{SECOND}\n")
        tree = cat(f"windows/1ms-6ms/slow/001-{SECOND}/tree.txt")
        self.assertEqual(tree, cat(f"stores/000000/traces/{SECOND}/tree.txt"))

    def test_the_summary_has_the_traces(self):
        first, rest = cat("windows/0-5ms/summary.txt"), cat("windows/5ms-/summary.txt")
        self.assertRegex(first, r"(?s)Traces that begin in this time\n.*\n +1 +1 +1  2019.*cart is full")
        self.assertRegex(rest, r"\n +3 +0 +1  2019")
        self.assertNotIn("cart is full", rest)

    def test_the_summary_says_what_no_call_explains(self):
        text = cat("summary.txt")
        slowest = next(name for name in run("--ls", SOURCE, "slow").split() if name.startswith("001-"))
        own = int(rows(f"slow/{slowest}/calls.csv")[0]["self_ns"])
        shown = f"{own / 1e6:.3f} ms"
        self.assertRegex(text, rf"\n +1 +\S+ ms +{shown} ")
        self.assertRegex(text, r"\n +1 +1  \S+: .*cart is full\n")

    def test_spans_are_not_listed(self):
        for folder in ([], ["windows/0-5ms"]):
            listed = run("--ls", SOURCE, *folder).split()
            self.assertIn("exceptions.csv", listed)
            self.assertNotIn("spans.csv", listed)

    def test_times_of_day(self):
        self.assertEqual(
            cat("windows/20190516T094600Z-20190516T094640.005Z/traces.csv"), cat("windows/0-5ms/traces.csv")
        )
        self.assertIn("20190516T094640Z-20190516T094650Z", cat("windows/README.txt"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
