#!/usr/bin/env python3
"""Filters of small profiles, with values that follow from their definition alone.

    test_filters.py PROFMOUNT SOURCES
"""
import csv
import io
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

PROFMOUNT, SOURCES = (os.path.abspath(p) for p in sys.argv[1:3])
STACKS = """main;solve;kernel 40
main;solve;MPI_Wait 10
main;solve;MPI_Wait;poll 5
main;output;MPI_Wait 3
main;output 2
main;solve;solve;kernel 7
main;~twice 1
"""


def run(*args, code=0):
    done = subprocess.run([PROFMOUNT, *args], capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == code, (args, done.returncode, done.stderr)
    return done.stdout if code == 0 else done.stderr


class Filters(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.source = self.write("a.folded", STACKS)

    def tearDown(self):
        self.folder.cleanup()

    def write(self, name, text):
        path = os.path.join(self.folder.name, name)
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        return path

    def rows(self, path, *options, source=None):
        return list(csv.DictReader(io.StringIO(run(*options, "--cat", source or self.source, path))))

    def functions(self, where, *options):
        path = where + "/functions.csv" if where else "functions.csv"
        return {r["name"]: (int(r["count_excl"] or 0), int(r["count_incl"] or 0)) for r in self.rows(path, *options)}

    def paths(self, where):
        names, found = {}, {}
        for r in self.rows(where + "/contexts.csv"):
            names[r["context_id"]] = names.get(r["parent_id"], "") + ";" + r["name"]
            if int(r["count_excl"] or 0):
                found[names[r["context_id"]][1:]] = int(r["count_excl"])
        return found

    def test_focus_has_the_paths_that_match(self):
        self.assertEqual(self.paths("focus/MPI_*"),
                         {"main;solve;MPI_Wait": 10, "main;solve;MPI_Wait;poll": 5, "main;output;MPI_Wait": 3})
        self.assertEqual(self.functions("focus/MPI_*"),
                         {"main": (0, 18), "solve": (0, 15), "output": (0, 3), "MPI_Wait": (13, 18), "poll": (5, 5)})

    def test_ignore_has_the_others(self):
        self.assertEqual(self.paths("ignore/MPI_*"),
                         {"main;solve;kernel": 40, "main;output": 2, "main;solve;solve;kernel": 7, "main;~twice": 1})

    def test_hide_moves_costs_up_and_joins_paths(self):
        self.assertEqual(self.paths("hide/MPI_*"), {"main;solve": 10, "main;solve;poll": 5, "main;output": 5,
                                                     "main;solve;kernel": 40, "main;solve;solve;kernel": 7, "main;~twice": 1})
        self.assertEqual(self.paths("hide/solve"), {"main;kernel": 47, "main;MPI_Wait": 10, "main;MPI_Wait;poll": 5,
                                                    "main;output;MPI_Wait": 3, "main;output": 2, "main;~twice": 1})
        self.assertEqual(self.paths("hide/*"), {"(hidden)": 68})
        first = {r["name"]: r["context_id"] for r in self.rows("hide/solve/contexts.csv")}
        whole = [r["context_id"] for r in self.rows("contexts.csv") if r["name"] == "kernel"]
        self.assertIn(first["kernel"], whole)

    def test_from_begins_at_the_outermost_match(self):
        self.assertEqual(self.paths("from/solve"), {"solve;kernel": 40, "solve;MPI_Wait": 10, "solve;MPI_Wait;poll": 5,
                                                    "solve;solve;kernel": 7})
        self.assertEqual(self.paths("from/[Mp]*"), {"MPI_Wait": 13, "MPI_Wait;poll": 5})

    def test_filters_in_one_another_apply_from_left_to_right(self):
        self.assertEqual(self.paths("from/solve/hide/MPI_*"),
                         {"solve;kernel": 40, "solve": 10, "solve;poll": 5, "solve;solve;kernel": 7})
        self.assertEqual(self.functions("", "-o", "from=solve,hide=MPI_*"), self.functions("from/solve/hide/MPI_*"))

    def test_a_name_of_an_entry_is_that_function_alone(self):
        source = self.write("b.folded", "main;a* 1\nmain;ab 2\nmain;f~2 4\n")
        self.assertEqual([r["name"] for r in self.rows("from/a*/contexts.csv", source=source)], ["a*"])
        self.assertEqual({r["name"] for r in self.rows("from/name:[a]*/contexts.csv", source=source)}, {"a*", "ab"})
        self.assertEqual([r["name"] for r in self.rows("from/f~2/contexts.csv", source=source)], ["f~2"])

    def test_what_is_seen_is_said(self):
        info = json.loads(run("--cat", self.source, "focus/MPI_*/hide/poll/info.json"))
        self.assertEqual(info["filters"], "focus/MPI_*/hide/poll")
        self.assertAlmostEqual(info["filter_share"], 18 / 68)
        self.assertIn("26.5% of the whole", run("--cat", self.source, "focus/MPI_*/summary.txt"))
        self.assertIn("Nothing matches focus/kernl. Nearest: kernel", run("--cat", self.source, "focus/kernl/summary.txt"))
        self.assertNotIn("Nearest", run("--cat", self.source, "focus/zzzzzz/summary.txt"))
        self.assertIn("Categories: program, idle, mpi", run("--cat", self.source, "focus/category:x/summary.txt"))
        self.assertIn("Kinds: entry, function", run("--cat", self.source, "focus/kind:x/summary.txt"))
        self.assertEqual(run("--cat", self.source, "hide/a/hide/b/hide/poll/summary.txt").count("Filtered by"), 1)
        self.assertEqual(self.functions("focus/kernl"), {})
        self.assertEqual(self.functions("hide/kernl"), self.functions(""))

    def test_parts_are_filtered(self):
        """Windows of iterations either way round, and labels of samples."""
        source = os.path.join(SOURCES, "new.htdump")
        name = max(self.rows("functions.csv", source=source), key=lambda r: int(r["calls"]))["name"]
        windows = [r["window"] for r in self.rows("iterations.csv", "-o", "iterations=" + name, source=source) if r["window"]]
        self.assertTrue(windows)
        for window in windows[:3]:
            for kind in ("focus", "ignore", "hide", "from"):
                rows = self.rows(f"{window}/{kind}/{name}/functions.csv", "-o", "iterations=" + name, source=source)
                self.assertEqual(rows, self.rows(f"{kind}/{name}/{window}/functions.csv", "-o", "iterations=" + name, source=source))
        source = os.path.join(SOURCES, "cpu.pprof")
        self.assertTrue(labels := self.rows("labels.csv", source=source))
        for path in (f"labels/{r['key']}/{r['value']}" for r in labels if r["value"]):
            whole, *parts = (self.rows(path + filtered + "/functions.csv", source=source) for filtered in ("", "/focus/inner", "/ignore/inner"))
            for column in (c for c in whole[0] if c.endswith("_excl")):
                self.assertEqual(*(sum(int(r[column] or 0) for r in rows) for rows in (whole, sum(parts, []))), (path, column))

    def test_names(self):
        source = self.write("c.folded", "main;f(char*) 1\nmain;f(char**) 20\n")
        self.assertEqual(json.loads(run("--cat", source, "focus/f(char**)/info.json"))["filter_share"], 20 / 21)
        for path in ("focus/.git", "focus/" + "x" * 256, "/".join(["hide/zz"] * 17)):
            self.assertIn("No such file", run("--ls", self.source, path, code=1))
        run("--ls", self.source, "/".join(["hide/zz"] * 16))
        self.assertIn("No such file", run("--ls", self.source, "/".join(["hide/zz"] * 100), code=1))
        self.assertEqual(self.functions("focus/" + "*" * 250), self.functions(""))
        self.assertEqual(self.functions("focus/" + "*?" * 120 + "zz"), {})
        listed = run("--ls", self.source).split()
        self.assertTrue({"focus/", "ignore/", "hide/", "from/"} <= set(listed))
        self.assertEqual(run("--ls", self.source, "focus").split(), ["README.txt"])
        self.assertFalse({"focus/", "hide/"} & set(run("--ls", self.source, "hide/main").split()))
        self.assertIn("$ head -n 6 focus/", run("--cat", self.source, "focus/README.txt"))

    def test_options_that_cannot_be(self):
        self.assertIn("a pattern is expected", run("-o", "focus=", "--cat", self.source, "functions.csv", code=2))
        self.assertIn("a pattern is expected", run("-o", "focus=" + "*" * 10000, "--cat", self.source, "functions.csv", code=2))
        many = ",".join(["hide=zz"] * 17)
        self.assertIn("more than 16 filters", run("-o", many, "--cat", self.source, "functions.csv", code=2))
        self.assertEqual(self.functions("", "-o", r"hide=a\,b"), self.functions(""))

    def test_runs_are_filtered_together(self):
        other = self.write("b.folded", STACKS.replace("MPI_Wait 10", "MPI_Wait 30").replace("kernel 40", "kernel 44"))
        words = [f"a={self.source}", f"b={other}"]
        rows = list(csv.DictReader(io.StringIO(run("--cat", *words, "--", "ignore/MPI_*/compare/b/functions.csv"))))
        self.assertEqual({r["name"]: float(r["count_excl_diff"] or 0) for r in rows if float(r["count_excl_diff"] or 0)}, {"kernel": 4})
        self.assertEqual(run("--cat", *words, "--", "ignore/MPI_*/runs/run=b/contexts.csv"),
                         run("--cat", other, "ignore/MPI_*/contexts.csv"))
        self.assertEqual(run("--cat", *words, "--", "runs/run=b/ignore/MPI_*/contexts.csv"),
                         run("--cat", other, "ignore/MPI_*/contexts.csv"))
        self.assertEqual(run("-o", "ignore=MPI_*", "--cat", *words, "--", "compare/b/functions.csv"),
                         run("--cat", *words, "--", "ignore/MPI_*/compare/b/functions.csv"))

    def test_laws_in_comparisons(self):
        """Of each side and of their difference, focus and ignore add up to the whole, hide and from are the whole and focus."""
        def sums(words, where):
            rows = list(csv.DictReader(io.StringIO(run("--cat", *words, "--", where + "compare/b/functions.csv"))))
            columns = [c for c in (rows[0] if rows else ()) if c.endswith(("_excl", "_excl_base", "_excl_diff"))]
            return {c: sum(float(r[c] or 0) for r in rows) for c in columns}
        pairs = [("hpctoolkit", "hpctoolkit-june"), ("hpctoolkit-april", "hpcrun"), ("new.htdump", "old.htdump"), ("two.folded.gz", "flat.folded"),
                 ("evented.speedscope.json.gz", "own.speedscope.json"), ("kineto.pt.trace.json.gz", "array.json"), ("cpu.pprof", "odd.pb.gz"),
                 ("nytprof-fork", "nytprof.out"), ("builds/before-1.data", "builds/after-1.data"), ("zts", "zts-old")]
        n = 0
        for pair in pairs:
            words = [f"{name}={os.path.join(SOURCES, path)}" for name, path in zip("ab", pair)]
            whole = sums(words, "")
            self.assertTrue(whole, pair)
            names = [r["name"] for r in self.rows("functions.csv", source=os.path.join(SOURCES, pair[0])) if len(r["name"]) < 100]
            for pattern in (names[0].replace("/", "∕"), names[len(names) // 2].replace("/", "∕"), "*e*", "category:program"):
                parts = {kind: sums(words, f"{kind}/{pattern}/") for kind in ("focus", "ignore", "hide", "from")}
                for column, cost in whole.items():
                    of = {kind: part.get(column, 0) for kind, part in parts.items()}
                    about = 1e-9 * max(abs(cost), *(abs(part.get(c, 0)) for c in whole for part in parts.values()))
                    self.assertAlmostEqual(of["focus"] + of["ignore"], cost, delta=about, msg=(pair, pattern, column))
                    self.assertAlmostEqual(of["hide"], cost, delta=about, msg=(pair, pattern, column))
                    self.assertAlmostEqual(of["from"], of["focus"], delta=about, msg=(pair, pattern, column))
                    n += of["focus"] != 0 and of["ignore"] != 0
        self.assertGreater(n, 20)  # otherwise little was divided

    def test_filters_of_several_runs_in_one_another_end(self):
        """Profiles with caches of their own are dropped from a cache."""
        words = [f"a={self.source}", f"b={self.write('b.folded', STACKS)}"]
        path = "/".join(["focus/*"] * 12)
        self.assertEqual(run("-o", "cache=1M", "--cat", *words, "--", path + "/functions.csv"), run("--cat", *words, "--", "functions.csv"))

    def test_filters_of_several_runs_say_so(self):
        words = [f"a={self.source}", f"b={self.write('b.folded', STACKS)}"]
        self.assertIn("filtered by focus/MPI_*/hide/poll\n", run("--cat", *words, "--", "focus/MPI_*/hide/poll/summary.txt"))
        for where, said in (("", "A performance profile"), ("focus/MPI_Wait/", "focus/MPI_Wait of a.folded")):
            self.assertTrue(run("--cat", self.source, where + "README.txt").startswith(said + " as files, mounted"))
        self.assertIn("\nnothing matches ignore/zzz in any run\n", run("--cat", *words, "--", "focus/MPI_*/ignore/zzz/summary.txt"))
        self.assertNotIn("nothing matches", run("--cat", *words, "--", "hide/poll/summary.txt"))
        self.assertIn("Filtered by hide/poll\n", run("-o", "hide=poll", "--cat", *words, "--", "README.txt"))
        self.assertEqual(json.loads(run("--cat", *words, "--", "hide/poll/info.json"))["filters"], "hide/poll")
        self.assertIn("Filtered by hide/poll: 100.0%", run("--cat", *words, "--", "hide/poll/runs/run=a/summary.txt"))
        self.assertEqual(run("--cat", *words, "--", "hide/no such/runs.csv"), run("--cat", *words, "--", "runs.csv"))

    def test_threads_are_those_of_the_run(self):
        """Whoever has nothing in a filter has run all the same, and could have had it."""
        def threads(name, n):
            lines = [f"[t tid={i}];main;work 10" for i in range(1, n + 1)]
            lines += [f"[t tid={i}];main;stall 6" for i in range(2, n + 1)]
            return f"{name}={self.write(name + '.folded', chr(10).join(lines) + chr(10))}"
        words = [threads("a", 2), threads("b", 4)]
        rows = list(csv.DictReader(io.StringIO(run("--cat", *words, "--", "focus/stall/scaling.csv"))))
        self.assertEqual({(r["threads_base"], r["threads"]) for r in rows}, {("2", "4")})
        self.assertNotIn("efficiency.csv", run("--ls", *words, "--", "focus/stall"))
        row = next(r for r in self.rows("focus/stall/imbalance-functions.csv", source=words[1][2:]) if r["name"] == "stall")
        self.assertEqual((row["threads"], row["peers"], row["count_excl_mean"]), ("3", "4", "4.5"))

    def test_what_is_hidden_has_a_number_of_its_own(self):
        source = os.path.join(SOURCES, "hpctoolkit-june")
        known = {r["function_index"] for r in self.rows("raw/functions.csv", source=source)}
        hidden = self.rows("hide/module:*/functions.csv", source=source)
        self.assertEqual([r["name"] for r in hidden], ["(hidden)"])
        self.assertNotIn(hidden[0]["function_id"], known)

    def test_what_only_waits_has_no_work(self):
        """Costs that are no sums of powers of two leave something when they are added up and taken off again."""
        lines = [f"[t tid={t}];main;f{i % 5};MPI_Wait{i} {(i * 7919 + t) % 9973 / 9973:.6f}" for t in (1, 2) for i in range(40)]
        source = self.write("w.folded", "\n".join(lines) + "\n")
        rows = [r for r in self.rows("focus/category:mpi/imbalance.csv", source=source) if r["waiting"] == "0"]
        self.assertEqual({(r["imbalance"], r["lost"]) for r in rows}, {("", "0")})

    def test_a_part_of_a_name_is_proposed(self):
        self.assertIn("Nearest: MPI_Wait, main; all that contain it: *wait*", run("--cat", self.source, "focus/wait/summary.txt"))
        self.assertIn("There is category:mpi.", run("--cat", self.source, "focus/mpi/summary.txt"))

    def test_a_thread_has_no_percentiles_of_others(self):
        source = os.path.join(SOURCES, "nytprof-fork")
        path = self.rows("threads.csv", source=source)[0]["path"]
        for r in self.rows(path + "/focus/*/functions.csv", source=source):
            self.assertEqual(r.get("max_ns", ""), "", r)

    def test_threads(self):
        source = os.path.join(SOURCES, "new.htdump")
        paths = [r["path"] for r in self.rows("threads.csv", source=source)]
        for path in paths:
            alone = self.rows(path + "/hide/no such/functions.csv", source=source)
            whole = self.rows(path + "/functions.csv", source=source)
            self.assertEqual([(r["name"], r["time_ns_excl"]) for r in alone], [(r["name"], r["time_ns_excl"]) for r in whole])
            self.assertEqual(len(self.rows(path + "/hide/no such/threads.csv", source=source)), 1)

    def test_hidden_calls_from_lines_keep_the_whole_of_a_window(self):
        frames = [{"name": n, "file": "a.py", "line": i} for i, n in enumerate(("main", "solve", "kernel"), 1)]
        events = [{"type": "O", "frame": i, "at": 10 * i} for i in range(3)] + [{"type": "C", "frame": i, "at": 100 - 20 * i} for i in (2, 1, 0)]
        source = self.write("a.speedscope.json", json.dumps({
            "$schema": "https://www.speedscope.app/file-format-schema.json", "shared": {"frames": frames},
            "profiles": [{"type": "evented", "name": "t", "unit": "nanoseconds", "startValue": 0, "endValue": 100, "events": events}]}))
        for where, expected in (("windows/0-/", {"main": 60, "kernel": 40}), ("", {"main": 60, "kernel": 40}), ("windows/20ns-70ns/", {"main": 10, "kernel": 40})):
            self.assertEqual({r["name"]: int(r["time_ns_excl"]) for r in self.rows(where + "hide/solve/functions.csv", source=source)}, expected)

    def test_hidden_costs_go_to_the_line_of_the_call(self):
        """Also in databases without the scope lex_aware, where one scope serves trees and functions."""
        source = os.path.join(self.folder.name, "hpctoolkit")
        shutil.copytree(os.path.join(SOURCES, "hpctoolkit"), source)
        for without in (False, True):
            if without:
                with open(os.path.join(source, "meta.db"), "r+b") as f:
                    before = f.read()
                    f.seek(0)
                    f.write(before.replace(b"lex_aware\0", b"lex_other\0"))
                self.assertIn(b"lex_aware\0", before)
            work = next(r for r in self.rows("functions.csv", source=source) if r["name"] == "work")["cputime_sec_excl"]
            own = {r["name"]: r["cputime_sec_self"] for r in self.rows("hide/work/contexts.csv", source=source) if r["cputime_sec_self"]}
            self.assertEqual(own, {"app.c:10": work})

    def test_where_nothing_runs_is_idle(self):
        """Also in databases, of which samples have context 0 then, and the tree has none."""
        idle = 0
        for source in ("hpctoolkit", "hpctoolkit-june"):
            source = os.path.join(SOURCES, source)
            for path in (r["path"] for r in self.rows("threads.csv", source=source) if r["samples"] not in ("", "0")):
                rows = self.rows(path + "/trace.csv", source=source)
                for pattern in ("category:idle", "<no*"):
                    inside, outside = ([r["time_ns"] for r in self.rows(f"{kind}/{pattern}/{path}/trace.csv", source=source)] for kind in ("focus", "ignore"))
                    self.assertEqual(inside, [r["time_ns"] for r in rows if r["category"] == "idle"])
                    self.assertEqual(outside, [r["time_ns"] for r in rows if r["category"] != "idle"])
                idle += len(inside)
        self.assertEqual(idle, 4)

    def test_samples_without_costs_stay_in_the_trace(self):
        """Where nothing runs, and where only other threads have costs: a thread has the same trace in its filters as in those of the run."""
        hidden = 0
        for source in ("hpcrun", "hpctoolkit-june", "perf.dir"):
            source = os.path.join(SOURCES, source)
            for path in (r["path"] for r in self.rows("threads.csv", source=source) if r["samples"] not in ("", "0")):
                whole = self.rows(path + "/trace.csv", source=source)
                for kind in ("focus", "ignore", "hide", "from"):
                    for pattern in ("no such", "category:idle", "*"):
                        run_of, own = ([(r["time_ns"], r["duration_ns"], r["function"]) for r in self.rows(where, source=source)] for where in
                                       (f"{kind}/{pattern}/{path}/trace.csv", f"{path}/{kind}/{pattern}/{path}/trace.csv"))
                        self.assertEqual(run_of, own, (source, kind, pattern))
                        if kind == "hide":
                            self.assertEqual([t[0] for t in own], [r["time_ns"] for r in whole], (source, pattern))
                            hidden += sum(t[2] == "(hidden)" for t in own)
        self.assertGreater(hidden, 5)

    def test_calls_that_are_hidden_give_their_time_to_the_caller(self):
        source = os.path.join(SOURCES, "new.htdump")
        path = self.rows("threads.csv", source=source)[0]["path"]
        whole = self.rows(path + "/trace.csv", source=source)
        inner = whole[-1]["name"]
        hidden = self.rows(f"hide/{inner}/{path}/trace.csv", source=source)
        self.assertEqual(len(hidden), sum(r["name"] != inner for r in whole))
        self.assertEqual(sum(int(r["self_ns"] or 0) for r in hidden), sum(int(r["self_ns"] or 0) for r in whole))

    def test_call_edges_have_no_filters(self):
        source = os.path.join(SOURCES, "callgrind.out")
        self.assertIn("No such file", run("--ls", source, "focus/main", code=1))
        self.assertIn("no call paths", run("--cat", source, "focus/README.txt"))
        self.assertIn("no call paths", run("-o", "focus=main", "--cat", source, "functions.csv", code=1))
        words = [f"a={source}", f"b={self.source}"]
        rows = list(csv.DictReader(io.StringIO(run("--cat", *words, "--", "focus/main/runs.csv"))))
        self.assertIn("no call paths", rows[0]["error"])
        self.assertEqual(rows[1]["error"], "")


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]], verbosity=2)
