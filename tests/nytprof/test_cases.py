#!/usr/bin/env python3
"""Small profiles with the right answers, as a mount shows them.

    test_cases.py PROFMOUNT WRITER         on profiles that WRITER (write_cases.c) makes
    test_cases.py PROFMOUNT --in FOLDER    on those of programs, in FOLDER/perl and FOLDER/compare; exit 77 without it
"""
import csv
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

PROFMOUNT = [*os.environ.get("EMULATOR", "").split(), os.path.abspath(sys.argv[1])]
FOLDER = sys.argv[3] if sys.argv[2] == "--in" else tempfile.mkdtemp(prefix="profmount-cases-")
EVAL = r"\(eval ([0-9a-f]{8})\)\[%s\]"


def source(name):
    paths = [os.path.join(FOLDER, part, name + ".nytprof.out") for part in ("", "perl", "compare")]
    return next(path for path in paths if os.path.exists(path))


def text(name, *paths, options=()):
    command = [*PROFMOUNT, *options, "--cat", source(name), *paths]
    return subprocess.run(command, check=True, capture_output=True, timeout=600).stdout.decode()


def table(content):
    return list(csv.DictReader(io.StringIO(content, newline="")))


def rows(name, path, options=()):
    return table(text(name, path, options=options))


def find(table_rows, **wanted):
    found = [row for row in table_rows if all(row[key] == value for key, value in wanted.items())]
    assert len(found) == 1, (wanted, found)
    return found[0]


def costs(row):
    return row["calls"], row["time_ns_excl"], row["statements"], row["statements_ns"]


class Cases(unittest.TestCase):
    def test_evals_of_two_codes(self):
        """Two subs that one line compiled: each has its own statements, file and source."""
        functions, lines = rows("evals-two-codes", "functions.csv"), rows("evals-two-codes", "lines.csv")
        slow, fast = find(functions, name="main::slow"), find(functions, name="main::fast")
        self.assertEqual(costs(slow), ("1", "4937100", "3", "4956400"))
        self.assertEqual(costs(fast), ("10", "2700", "20", "7400"))
        for row in (slow, fast):
            self.assertRegex(row["file"], EVAL % re.escape("gen.pl:3"))
        self.assertNotEqual(slow["file"], fast["file"])
        line = find(lines, file=fast["file"], line="3")
        self.assertEqual((line["statements"], line["statements_ns"], line["name"]), ("10", "6500", "main::fast"))
        # The line that ran them has both texts, apart from its own time, which alone adds up.
        ran = [row for row in lines if row["evals"]]
        self.assertEqual([(row["line"], row["statements_ns"], row["evals"], row["evals_ns"]) for row in ran],
                         [("3", "52100", "2", str(4956400 + 7400))])
        self.assertTrue(ran[0]["file"].endswith("/gen.pl"))
        self.assertEqual([row["evals"] for row in rows("evals-two-codes", "lines.csv", ("-o", "evals")) if row["evals"]], ["2"])
        self.assertEqual(find(rows("evals-two-codes", "files.csv"), file=slow["file"])["statements_ns"], "4956400")
        apart = rows("evals-two-codes", "functions.csv", ("-o", "evals"))
        for row in (slow, fast):
            self.assertEqual(costs(find(apart, name=row["name"])), costs(row))
        self.assertIn("  return $x;", text("evals-two-codes", "functions/main::fast/source.txt"))
        self.assertNotIn("50000", text("evals-two-codes", "functions/main::fast/source.txt"))
        self.assertIn("50000", text("evals-two-codes", "functions/main::slow/source.txt"))
        self.assertNotIn("texts", functions[0])

    def test_line_that_runs_evals(self):
        out = os.path.join(tempfile.mkdtemp(prefix="profmount-nytprof-"), "view")
        self.addCleanup(shutil.rmtree, os.path.dirname(out))
        subprocess.run([*PROFMOUNT, "--extract", source("evals-two-codes"), out, "source"], check=True, timeout=600)
        found = [os.path.join(where, name) for where, _, names in os.walk(out) for name in names]
        program = next(path for path in found if path.endswith("/gen.pl.annotated.txt"))
        with open(program, encoding="utf-8") as f:
            shown = [re.sub(r"^[ #]+", "", line) for line in f.read().splitlines()]
        at = shown.index("4.964 ms in 2 evals of 2 texts")
        self.assertRegex(shown[at + 1], r"^4\.956 ms in 1 eval: " + EVAL % re.escape("gen.pl:3"))
        self.assertEqual(shown[at + 2], "4.937 ms in 1 call of main::slow")
        self.assertEqual(shown[at + 4], "2.700 µs in 10 calls of main::fast")
        names = sorted(os.path.basename(path) for path in found if "gen.pl.evals/" in path)
        self.assertEqual(len(names), 4)
        digits = find(rows("evals-two-codes", "functions.csv"), name="main::slow")["file"][6:14]
        self.assertIn(f"(eval {digits}) line 3.annotated.txt", names)

    def test_two_anonymous_subs(self):
        functions = rows("evals-two-anon", "functions.csv")
        subs = {row["calls"]: row for row in functions if "__ANON__" in row["name"]}
        self.assertEqual(sorted(subs), ["1", "10"])
        self.assertEqual(costs(subs["10"]), ("10", "3700", "21", "10700"))
        self.assertEqual(costs(subs["1"]), ("1", "30487400", "4", "30511000"))
        for calls, code in (("10", "my $x = 1; $x"), ("1", "$i < 50000")):
            digits = re.search(EVAL % re.escape("anon.pl:2"), subs[calls]["name"]).group(1)
            self.assertEqual(subs[calls]["name"], f"main::__ANON__[(eval {digits})[anon.pl:2]:1]")
            self.assertEqual(subs[calls]["file"], f"(eval {digits})[anon.pl:2]")
            path = f"functions/{subs[calls]['name']}/source.txt"
            self.assertIn(code, text("evals-two-anon", path))

    def test_exports_have_what_contexts_have(self):
        """Statements are costs of lines: pprof would show them as a quantity of 0."""
        command = [*PROFMOUNT, "--cat", source("evals-two-codes"), "export/profile.pb.gz"]
        with tempfile.TemporaryDirectory() as place:
            path = os.path.join(place, "profile.pb.gz")
            with open(path, "wb") as f:
                subprocess.run(command, check=True, stdout=f, timeout=600)
            done = subprocess.run([*PROFMOUNT, "--cat", path, "metrics.csv"], check=True, capture_output=True, timeout=600)
            self.assertEqual({row["name"] for row in table(done.stdout.decode())}, {"time_ns", "calls"})

    def test_without_subs(self):
        """One column, one quantity: the time of statements, which then is the primary one."""
        info = json.loads(text("subs0", "info.json"))
        self.assertEqual(info["primary_metric"], "statements_ns")
        lines = rows("subs0", "lines.csv")
        self.assertEqual(list(lines[0])[:2], ["line", "statements_ns"])
        self.assertTrue(lines[0]["file"].endswith("kitchen.pl"))
        self.assertEqual((lines[0]["line"], lines[0]["statements"], lines[0]["statements_ns"]), ("32", "40006", "53000200"))
        self.assertEqual({(row["time_ns_excl"], row["time_ns_incl"]) for row in lines}, {("", "")})
        times = [int(row["statements_ns"]) for row in lines]
        self.assertEqual(times, sorted(times, reverse=True))
        for name in ("threads.csv", "files.csv", "modules.csv", "categories.csv"):
            self.assertEqual(sum(int(row["statements_ns"]) for row in rows("subs0", name)), sum(times), name)
        summary = text("subs0", "summary.txt")
        self.assertIn("statements_ns, the primary quantity", summary)
        self.assertRegex(summary, r"53\.00 ms .*kitchen\.pl:32")

    def test_lines_are_sorted_by_statements(self):
        for options in ((), ("-o", "metric=statements_ns")):
            lines = rows("evals-two-codes", "lines.csv", options)
            times = [int(row["statements_ns"]) for row in lines]
            self.assertEqual(times, sorted(times, reverse=True), options)
        functions = rows("evals-two-codes", "functions.csv", ("-o", "metric=statements_ns"))
        times = [int(row["statements_ns"] or 0) for row in functions]
        self.assertEqual(times, sorted(times, reverse=True))

    def test_statements_add_up(self):
        for name in ("evals-two-codes", "evals-two-anon", "utf8-subname"):
            of_lines = sum(int(row["statements_ns"]) for row in rows(name, "lines.csv"))
            for path in ("threads.csv", "files.csv", "modules.csv", "categories.csv"):
                self.assertEqual(sum(int(row["statements_ns"] or 0) for row in rows(name, path)), of_lines, (name, path))

    def test_name_that_mixes_encodings(self):
        functions = rows("utf8-subname", "functions.csv")
        row = find(functions, name="Éä::日本語")
        self.assertTrue(row["file"].endswith("utf.pl"))
        self.assertEqual((row["line"], row["calls"], row["time_ns_excl"]), ("2", "4", "13800"))
        self.assertEqual([r["name"] for r in functions if "\x97" in r["name"] or "æ" in r["name"]], [])

    def test_lines_of_comparisons_have_statements(self):
        command = [*PROFMOUNT, "--cat", "before=" + source("anon-before"), "after=" + source("anon-after"), "--",
                   "compare/after/lines.csv"]
        lines = table(subprocess.run(command, check=True, capture_output=True, timeout=600).stdout.decode())
        mine = [row for row in lines if row["file"].endswith("app.pl")]
        sizes = [abs(int(row["statements_ns_diff"])) for row in lines]
        self.assertEqual(sizes, sorted(sizes, reverse=True))
        row = find(mine, line_base="5", line="5")
        self.assertEqual((row["statements_ns_base"], row["statements_ns"]), ("298600", "53330800"))
        for name, four, five in (("anon-before", "8707200", "297800"), ("anon-after", "283300", "53306100")):
            functions = rows(name, "functions.csv")
            self.assertEqual(find(functions, name="main::__ANON__[app.pl:4]")["time_ns_excl"], four)
            self.assertEqual(find(functions, name="main::__ANON__[app.pl:5]")["time_ns_excl"], five)


if __name__ == "__main__":
    if sys.argv[2] != "--in":
        subprocess.run([*PROFMOUNT[:-1], sys.argv[2], FOLDER], check=True)
    elif not os.path.isdir(os.path.join(FOLDER, "perl")):
        print(f"SKIPPED: {FOLDER}, small profiles of programs, is not there")
        sys.exit(77)
    try:
        unittest.main(argv=sys.argv[:1])
    finally:
        if sys.argv[2] != "--in":
            shutil.rmtree(FOLDER)
