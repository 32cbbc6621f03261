#!/usr/bin/env python3
"""Answers that are known, of real profiles that lie beside the project, one or two at a time.

    test_cases.py PROFMOUNT SHARED

Exit status 77 (skipped) where SHARED/cases does not exist. The same rules are tested with profiles made here, in test_runs.py,
tests/compare/test_match.c and the tests of each format; so are, without a profile there, compressed debug sections
(tests/symbols/test_dwarf.c) and windows without end (tests/windows/test_windows_names.c).
"""
import csv
import io
import json
import os
import subprocess
import sys
import unittest

PROFMOUNT, SHARED = sys.argv[1:3]
CASES = os.path.join(SHARED, "cases")


def text(words, path):
    done = subprocess.run([PROFMOUNT, "--cat", *words, "--", path], capture_output=True, timeout=600, check=True)
    return done.stdout.decode()


def rows(words, path):
    return list(csv.DictReader(io.StringIO(text(words, path))))


def values(row, *columns):
    return tuple(row[column] for column in columns)


class Cases(unittest.TestCase):
    def path(self, name):
        path = os.path.join(CASES, name)
        if not os.path.exists(path):
            self.skipTest(f"no {path}")
        return path

    def words(self, before, after):
        return [f"before={self.path(before)}", f"after={self.path(after)}"]

    def test_evals_of_one_line_with_two_texts(self):
        words = [self.path("perl/evals-two-codes.nytprof.out")]
        table = {r["name"]: values(r, "statements", "statements_ns") for r in rows(words, "functions.csv")}
        self.assertEqual((table["main::slow"], table["main::fast"]), (("3", "4956400"), ("20", "7400")))
        lines = [values(r, "statements", "statements_ns") for r in rows(words, "lines.csv") if r["line"] == "3" and r["name"] == "main::fast"]
        self.assertEqual(lines, [("10", "6500")])

    def test_anonymous_subs_of_two_evals(self):
        table = rows([self.path("perl/evals-two-anon.nytprof.out")], "functions.csv")
        anonymous = [r for r in table if "__ANON__" in r["name"]]
        self.assertEqual([values(r, "calls", "time_ns_excl") for r in anonymous], [("1", "30487400"), ("10", "3700")])
        self.assertEqual(len({r["file"] for r in anonymous}), 2)

    def test_statements_alone(self):
        words = [self.path("perl/subs0.nytprof.out")]
        self.assertEqual(json.loads(text(words, "info.json"))["primary_metric"], "statements_ns")
        line = rows(words, "lines.csv")[0]
        self.assertEqual((line["line"], os.path.basename(line["file"])), ("32", "kitchen.pl"))
        self.assertEqual(values(line, "statements_ns", "time_ns_excl", "time_ns_incl"), ("53000200", "", ""))

    def test_name_in_two_encodings(self):
        found = [r for r in rows([self.path("perl/utf8-subname.nytprof.out")], "functions.csv") if "日本語" in r["name"]]
        self.assertEqual([(r["name"], os.path.basename(r["file"]), r["line"]) for r in found], [("Éä::日本語", "utf.pl", "2")])

    def test_what_one_rank_does_alone(self):
        words = [self.path("hpctoolkit/cpi-old")]
        row = next(r for r in rows(words, "imbalance.csv") if r["name"].startswith("PMPI_Reduce"))
        self.assertEqual(values(row, "threads", "peers", "waiting", "cputime_sec_incl_mean", "lost"),
                         ("1", "4", "1", "0.010417000000000001", "0.031251"))
        waiting = text(words, "summary.txt").partition("\nWaiting")[2].splitlines()
        self.assertIn("PMPI_Reduce", waiting[1])

    def test_derived_metrics_of_a_database(self):
        table = rows([self.path("hpctoolkit/saxpy")], "functions.csv")
        kernel = next(r for r in table if r["name"].startswith("saxpy("))
        self.assertEqual(values(kernel, "gker_occ_thr_excl", "gker_thr_reg_excl", "gker_blks_excl"), ("100", "26", "512"))
        self.assertEqual([c for c in kernel if "acumu" in c or "saturation" in c.lower()], [])

    def test_two_runs_in_one_measurement_directory(self):
        words = [self.path("hpcrun/mixed2")]
        summary = text(words, "summary.txt")
        self.assertIn("2 runs are in this directory", summary)
        self.assertIn("s from the first to the last", summary)
        self.assertNotIn("\nbusy ", summary)
        self.assertEqual([r["what"][:10] for r in rows(words, "damage.csv")], ["run 1 of 2", "run 2 of 2"])
        self.assertEqual(sorted(r["run"] for r in rows(words, "threads.csv")), ["1"] * 4 + ["2"] * 4)

    def test_damaged_database_of_a_report(self):
        words = [self.path("damage/start-js-min")]
        self.assertTrue(text(words, "report/start.js").startswith("pm.take("))

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
