#!/usr/bin/env python3
"""Comparisons whose right answers are known: pairs of real profiles that lie beside the project.

    test_cases.py PROFMOUNT SHARED

Exit status 77 (skipped) where SHARED/cases does not exist. The same rules are tested with profiles made here in test_runs.py and
tests/compare/test_match.c.
"""
import csv
import io
import os
import subprocess
import sys
import unittest

PROFMOUNT, SHARED = sys.argv[1:3]
CASES = os.path.join(SHARED, "cases")


def rows(words, path):
    done = subprocess.run([PROFMOUNT, "--cat", *words, "--", path], capture_output=True, timeout=60, check=True)
    return list(csv.DictReader(io.StringIO(done.stdout.decode())))


class Cases(unittest.TestCase):
    def words(self, before, after):
        words = [f"before={os.path.join(CASES, before)}", f"after={os.path.join(CASES, after)}"]
        for word in words:
            path = word.partition("=")[2]
            if not os.path.exists(path):
                self.skipTest(f"no {path}")
        return words

    def test_handlers_that_have_only_a_line(self):
        words = self.words("compare/anon-before.nytprof.out", "compare/anon-after.nytprof.out")
        table = {r["name"]: r for r in rows(words, "compare/after/functions.csv")}
        for line, before, after in ((4, "8707200", "283300"), (5, "297800", "53306100")):
            row = table[f"main::__ANON__[app.pl:{line}]"]
            self.assertEqual((row["time_ns_excl_base"], row["time_ns_excl"], row["matched"]), (before, after, "exact"))
        self.assertEqual(rows(words, "compare/after/names.csv"), [])
        line = next(r for r in rows(words, "compare/after/lines.csv") if r["line"] == "5" and r["file"].endswith("app.pl"))
        self.assertIn(("298600", "53330800"), {(line["time_ns_excl_base"], line["time_ns_excl"]),
                                               (line["statements_ns_base"], line["statements_ns"])})

    def test_lambdas_and_clones_that_changed_places(self):
        words = self.words("compare/lam-a.htdump", "compare/lam-b.htdump")
        table = rows(words, "compare/after/functions.csv")
        self.assertEqual(len(table), 8)
        for row in table:
            self.assertIn((row["time_ns_excl_base"], row["time_ns_excl"]), {("5000", "100"), ("100", "5000")})
            self.assertEqual(row["matched"], "exact")

    def test_addresses_of_a_library(self):
        words = self.words("hpctoolkit/cpi-old", "../corpus/hpctoolkit/data/hatchet-cpi")
        table = {r["name"]: r for r in rows(words, "compare/after/functions.csv")}
        self.assertNotIn("libuct_ib.so.0.0.0+0x3ff2f", table)
        row = table["libuct_ib.so.0.0.0 (12 addresses)"]
        self.assertEqual((row["cputime_sec_excl_base"][:7], row["cputime_sec_excl"][:7], row["matched"]), ("0.02894", "0.04749", "joined"))
        self.assertEqual(table["libuct_ib.so.0.0.0+0x6d43f"]["matched"], "exact")


if __name__ == "__main__":
    if not os.path.isdir(CASES):
        print(f"SKIPPED: no {CASES}")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1], verbosity=2)
