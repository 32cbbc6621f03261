#!/usr/bin/env python3
"""Several sources in one mount: names, repetitions, folders, tables of all runs, sources that cannot be opened.

    test_runs.py PROFMOUNT SOURCES

SOURCES is the folder of small sources of each format. Tables of all runs are compared with the tables of each run alone.
"""
import csv
import io
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import unittest

import streams

PROFMOUNT, SOURCES = (os.path.abspath(p) for p in sys.argv[1:3])
SECONDS = 600  # whoever waits that long hangs, however busy the machine is
FILTERS = {"focus", "ignore", "hide", "from"}  # listed at the root of a mount alone
COSTS = {"main": 50, "alpha": 1000, "beta": 500, "gamma": 20}


def run(*args, **more):
    return subprocess.run([PROFMOUNT, *args], stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS, **more)


def rows(data):
    return list(csv.DictReader(io.StringIO(data.decode("utf-8"))))


class Folder(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="profmount-runs-")
        self.addCleanup(shutil.rmtree, self.folder)

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def stream(self, name, threads=1, **changes):
        return streams.write(self.path(name), {k: v for k, v in {**COSTS, **changes}.items() if v}, threads)

    def cat(self, words, *paths, options=()):
        done = run(*[w for o in options for w in ("-o", o)], "--cat", *words, "--", *paths)
        self.assertEqual((done.returncode, done.stderr), (0, b""), (words, paths))
        return done.stdout

    def rows(self, words, path, options=()):
        return rows(self.cat(words, path, options=options))

    def names(self, words, path="", options=()):
        done = run(*[w for o in options for w in ("-o", o)], "--ls", *words, "--", *([path] if path else []))
        self.assertEqual((done.returncode, done.stderr), (0, b""), (words, path))
        return [name.rstrip("/") for name in done.stdout.decode().splitlines()]

    def fails(self, *args):
        done = run(*args)
        self.assertIn(done.returncode, (1, 2), args)
        return done.stderr.decode()


class Closing(Folder):
    """Runs are closed while a table of all runs is read, and their memory is used for the next ones."""

    def test_names_stay_those_of_their_run(self):
        for number in range(12):
            streams.write(self.path("runs", f"r{number:02}.htdump"),
                          {"main": 1, **{f"fn_{k:02}_of_run_{number:02}_xxxxxxxx": 1000 * (k + 1) for k in range(40)}})
        words, options = [self.path("runs")], ["cache=1k"]
        names = {r["name"] for r in self.rows(words, "functions.csv", options)}
        self.assertEqual(len(names), 12 * 40 + 1)
        parquet = self.cat(words, "functions.parquet", options=options)
        self.assertEqual([name for name in sorted(names) if name.encode() not in parquet], [])


class Words(Folder):
    """How the command line interprets its arguments."""

    def test_names_and_baseline(self):
        a, b = self.stream("a.htdump"), self.stream("b.htdump")
        words = [f"old={a}", f"new={b}"]
        self.assertEqual([r["run"] for r in self.rows(words, "runs.csv")], ["old", "new"])
        self.assertEqual(self.names(words, "compare"), ["new"])
        self.assertEqual(self.names(words, "compare", ["base=new"]), ["old"])
        self.assertEqual(json.loads(self.cat(words, "info.json", options=["base=new"]))["baseline"], "new")
        self.assertIn("nobody", self.fails("-o", "base=nobody", "--ls", *words, "--"))

    def test_without_a_name_it_is_what_tells_the_paths_apart(self):
        for given, want in (
                (("x/one/p.htdump", "x/two/p.htdump"), ["one", "two"]),
                (("x/p.htdump", "x/q.htdump"), ["p.htdump", "q.htdump"]),
                (("x/p.htdump", "x/y/p.htdump"), ["p.htdump", "y/p.htdump"]),
                (("x//p.htdump", "./x/q.htdump"), ["p.htdump", "q.htdump"])):
            with self.subTest(given=given):
                words = [self.stream(path) for path in given]
                self.assertEqual([r["run"] for r in self.rows(words, "runs.csv")], want)
                shutil.rmtree(self.path("x"))

    def test_a_name_ends_before_any_slash(self):
        odd = self.stream("odd=name/p.htdump")
        plain = self.stream("q.htdump")
        table = self.rows([odd, f"n={plain}"], "runs.csv")
        self.assertEqual([r["source"] for r in table], [odd, plain])

    def test_one_source_is_served_as_before(self):
        a = self.stream("a=b.htdump")
        alone = run("--cat", a, "functions.csv").stdout
        self.assertTrue(alone)
        self.assertEqual(self.cat([a], "functions.csv"), alone)
        done = run("--ls", "a=b.htdump", cwd=self.folder)
        self.assertIn(b"contexts.csv", done.stdout)

    def test_more_sources_by_option(self):
        a, b = self.stream("a.htdump"), self.stream("b.htdump")
        self.assertEqual(self.names([f"old={a}"], "runs", [f"run=new={b}"]), ["run=old", "run=new"])

    def test_repetitions(self):
        paths = [self.stream(f"{k}.htdump", alpha=1000 + 10 * k) for k in range(4)]
        words = [f"a={paths[0]}", f"b={paths[1]}", f"a={paths[2]}", f"b={paths[3]}"]
        table = self.rows(words, "runs.csv")
        self.assertEqual([(r["run"], r["repetition"], r["source"]) for r in table],
                         [("a", "1", paths[0]), ("a", "2", paths[2]), ("b", "1", paths[1]), ("b", "2", paths[3])])
        self.assertEqual(self.names(words, "runs"), ["run=a", "run=b"])
        self.assertEqual(self.names(words, "runs/run=b"), ["repetition=1", "repetition=2"])
        for row in table:
            self.assertEqual(self.cat(words, row["path"] + "/functions.csv"), run("--cat", row["source"], "functions.csv").stdout)
        for path in ("runs/run=b/repetition=3", "runs/run=b/repetition=0", "runs/run=b/repetition=01", "runs/run=c"):
            self.assertIn("No such file", self.fails("--ls", *words, "--", path))

    def test_one_name_with_repetitions_gives_all_paths_the_level(self):
        a, b = self.stream("a.htdump"), self.stream("b.htdump")
        table = self.rows([f"x={a}", f"x={b}", f"y={a}"], "runs.csv")
        self.assertEqual([r["path"] for r in table],
                         ["runs/run=x/repetition=1", "runs/run=x/repetition=2", "runs/run=y/repetition=1"])

    def test_the_same_source_twice(self):
        a = self.stream("a.htdump")
        words = [f"x={a}", f"y={a}"]
        for row in self.rows(words, "compare/y/functions.csv"):
            self.assertEqual((row["time_ns_excl_diff"], row["time_ns_excl_ratio"], row["only_in"]), ("0", "1", ""))
        self.assertEqual(len(self.rows([a, a], "runs.csv")), 2)

    def test_mistakes(self):
        a = self.stream("a.htdump")
        self.assertIn("strong or weak", self.fails("-o", "scaling=sideways", "--ls", a, a, "--"))
        self.assertIn("-o follow", self.fails("-o", "follow", a, a, self.folder))
        os.mkdir(self.path("empty"))
        self.assertIn("contains no profile", self.fails("--ls", self.path("empty")))
        self.assertIn("contains no profile", self.fails("--ls", a, f"x={self.path('empty')}", "--"))


class Folders(Folder):
    def make(self):
        for name in ("tuesday/run.htdump", "monday/run.htdump", "deep/er/still/run.htdump"):
            self.stream(name)
        shutil.copytree(os.path.join(SOURCES, "hpctoolkit"), self.path("wednesday/db"))
        with open(self.path("notes.txt"), "w", encoding="utf-8") as f:
            f.write("no profile\n")
        os.mkdir(self.path("nothing"))
        os.mkfifo(self.path("pipe"))
        os.symlink("..", self.path("deep", "circle"))

    def test_sources_at_any_depth_in_order_of_their_paths(self):
        self.make()
        table = self.rows([self.folder], "runs.csv")
        self.assertEqual([r["run"] for r in table],
                         ["deep/er/still/run.htdump", "monday/run.htdump", "tuesday/run.htdump", "wednesday/db"])
        self.assertFalse([r["error"] for r in table if r["error"]])
        self.assertEqual(self.names([self.folder], "compare"), [r["run"].replace("/", "\u2215") for r in table[1:]])

    def test_parts_of_a_run_are_one_run(self):
        processes = os.path.join(SOURCES, "cpuprofiles")
        parts = sorted(os.listdir(processes))
        for name in parts:
            shutil.copy(os.path.join(processes, name), self.path(name))
            shutil.copy(os.path.join(processes, name), self.path(name.replace(".77.", ".78.")))
        whole = self.rows([processes], "functions.csv")
        runs = self.rows([self.folder], "runs.csv")
        self.assertEqual([r["run"] for r in runs], ["CPU.20260101.120000.77", "CPU.20260101.120000.78"])
        self.assertEqual([r["threads"] for r in runs], [str(len(parts))] * 2)
        for r in runs:
            self.assertEqual(self.rows([self.folder], r["path"] + "/functions.csv"), whole)

    def test_a_run_of_several_files_has_the_name_that_they_share(self):
        head = "# callgrind format\nversion: 1\ncreator: x\npid: %d\ncmd: ./a\npart: 1\nthread: %d\nevents: Ir\n\nfl=a.c\nfn=main\n1 %d\n"
        for pid, threads in ((1234, (1, 2)), (1300, (1, 2)), (77, (1,))):
            for thread in threads:
                with open(self.path(f"callgrind.out.{pid}-{thread:02}"), "w", encoding="utf-8") as f:
                    f.write(head % (pid, thread, 10 * thread))
        runs = self.rows([self.folder], "runs.csv")
        self.assertEqual([(r["run"], r["threads"]) for r in runs], [("callgrind.out.77-01", "1"), ("callgrind.out.1234", "2"), ("callgrind.out.1300", "2")])
        # Never the name of another run: that would be a repetition of it.
        shutil.copy(self.path("callgrind.out.77-01"), self.path("callgrind.out.1234"))
        names = [r["run"] for r in self.rows([self.folder], "runs.csv")]
        self.assertEqual(sorted(names), ["callgrind.out.1234", "callgrind.out.1234-01", "callgrind.out.1300", "callgrind.out.77-01"])

    def test_the_same_number_of_a_process_is_not_the_same_process(self):
        processes = os.path.join(SOURCES, "cpuprofiles")
        first = sorted(os.listdir(processes))[0]
        for day in ("20260101", "20260102"):  # in containers, all are process 1
            shutil.copy(os.path.join(processes, first), self.path(first.replace("20260101", day)))
        self.assertEqual([r["threads"] for r in self.rows([self.folder], "runs.csv")], ["1", "1"])

    def test_links_count_once(self):
        self.stream("a/run.htdump")
        os.symlink("a/run.htdump", self.path("latest.htdump"))
        self.assertEqual(len(self.rows([self.folder], "runs.csv")), 1)
        other = tempfile.mkdtemp(dir=self.folder)
        os.symlink(self.path("a/run.htdump"), os.path.join(other, "only.htdump"))
        self.assertEqual(len(self.rows([other], "runs.csv")), 1)

    def test_a_folder_as_repetitions(self):
        for k in range(3):
            self.stream(f"before/{k}.htdump")
            self.stream(f"after/{k}.htdump")
        words = [f"old={self.path('before')}", f"new={self.path('after')}"]
        self.assertEqual([(r["run"], r["repetition"]) for r in self.rows(words, "runs.csv")],
                         [(n, str(k)) for n in ("old", "new") for k in (1, 2, 3)])
        self.assertEqual([r["run"] for r in self.rows([f"only={self.path('before')}"], "runs.csv")], ["only"] * 3)

    def test_many_runs_take_few_descriptors_and_little_memory(self):
        count = 400
        for k in range(count):
            self.stream(f"{k // 100}/{k:04}.htdump", alpha=1000 + k)

        def limit():
            resource.setrlimit(resource.RLIMIT_NOFILE, (150, 150))

        for path in ("runs.csv", "functions.csv", "functions-wide.csv"):
            done = run("--cat", self.folder, "--", path, preexec_fn=limit)
            self.assertEqual((done.returncode, done.stderr), (0, b""), path)
        table = self.rows([self.folder], "runs.csv")
        self.assertEqual([r["time_ns"] for r in table], [str(1570 + k) for k in range(count)])
        self.assertFalse([r for r in table if r["error"]])
        done = run("--extract", self.folder, "--", self.path("out"), *[r["path"] + "/functions.csv" for r in table[::2]],
                   preexec_fn=limit)
        self.assertEqual((done.returncode, done.stderr), (0, b""))


class Tables(Folder):
    def sources(self):
        return [("small", self.stream("a.htdump")), ("calls", os.path.join(SOURCES, "nytprof.out")),
                ("database", os.path.join(SOURCES, "hpctoolkit")), ("measured", os.path.join(SOURCES, "hpcrun")),
                ("traces", os.path.join(SOURCES, "zts"))]

    def test_runs_are_what_they_are_alone(self):
        words = [f"{name}={path}" for name, path in self.sources()]
        rows = self.rows(words, "runs.csv")
        self.assertEqual(len(rows), len(words))
        for row, (name, path) in zip(rows, self.sources()):
            info = json.loads(run("--cat", path, "info.json").stdout)
            self.assertEqual((row["run"], row["format"], row["error"], row["path"]), (name, info["format"], "", "runs/run=" + name))
            for column in ("contexts", "threads", "duration_ns"):
                self.assertEqual(row[column], "" if info[column] is None else str(info[column]), (name, column))
            self.assertEqual(set(self.names(words, row["path"])), {n.rstrip("/") for n in run("--ls", path).stdout.decode().split()} - FILTERS)
            for file in ("functions.csv", "contexts.csv", "export/flamegraph.svg"):
                self.assertEqual(self.cat(words, f"{row['path']}/{file}"), run("--cat", path, file).stdout, (name, file))

    def test_numbered_names_are_repetitions_where_that_is_asked_for(self):
        folder = self.path("numbered")
        os.mkdir(folder)
        for name in ("x-1.folded", "x-2.folded", "x-3.folded", "y-2.folded", "y-3.folded", "z.folded", "2024.folded"):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
                f.write("main;a 1\n")
        rows = self.rows([folder], "runs.csv", ["repetitions=yes"])
        self.assertEqual(sorted((r["run"], r["repetition"]) for r in rows),
                         [("2024.folded", "1"), ("x", "1"), ("x", "2"), ("x", "3"), ("y-2.folded", "1"), ("y-3.folded", "1"), ("z.folded", "1")])
        self.assertEqual({r["repetition"] for r in self.rows([folder], "runs.csv", ["repetitions=no"])}, {"1"})
        self.assertNotIn(b"repetitions=yes", self.cat([folder], "summary.txt"))  # no command is known

    def test_repetitions_are_proposed_of_one_command_host_and_number_of_threads(self):
        folder = self.path("proposed")
        os.mkdir(folder)
        for i in range(3):
            shutil.copytree(os.path.join(SOURCES, "hpcrun"), os.path.join(folder, f"run{i}"))
        said = b"3 runs look like repetitions of `run`"
        self.assertIn(said, self.cat([folder], "summary.txt"))
        self.assertNotIn(said, self.cat([folder], "summary.txt", options=["repetitions=yes"]))
        os.remove(next(os.path.join(folder, "run2", n) for n in sorted(os.listdir(os.path.join(folder, "run2"))) if n.endswith(".hpcrun")))
        self.assertNotIn(said, self.cat([folder], "summary.txt"))

    def test_own_costs_are_compared_with_formats_that_have_no_others(self):
        database = os.path.join(SOURCES, "hpctoolkit")
        table = rows(run("--cat", database, "contexts.csv").stdout)
        number = lambda row, column: float(row[column] or 0)
        words = [f"database={database}", f"measured={os.path.join(SOURCES, 'hpcrun')}"]
        compared = self.rows(words, "compare/measured/contexts.csv")
        own, scoped = (sum(number(r, "cputime_sec" + column) for r in table) for column in ("_self", "_excl"))
        self.assertNotAlmostEqual(own, scoped)
        self.assertAlmostEqual(sum(number(r, "cputime_sec_excl_base") for r in compared), own)
        alike = self.rows([f"a={database}", f"b={database}"], "compare/b/contexts.csv")
        self.assertAlmostEqual(sum(number(r, "cputime_sec_excl") for r in alike), scoped)

    def test_options_reach_each_run(self):
        a, b = self.stream("a.htdump"), self.stream("b.htdump", beta=2000)
        words = [f"a={a}", f"b={b}"]
        for options in (("metric=calls",), ("metric=calls", "iterations=beta")):
            given = [w for o in options for w in ("-o", o)]
            for path in ("functions.csv", "summary.txt", "iterations.csv")[:len(options) + 1]:
                self.assertEqual(self.cat(words, "runs/run=b/" + path, options=options),
                                 run(*given, "--cat", b, path).stdout, (options, path))
        self.assertEqual(list(self.rows(words, "runs.csv", ["metric=nosuch"])[0])[2], "time_ns")
        said = b"no run has the quantity of -o metric="
        self.assertIn(said + b"nosuch", self.cat(words, "summary.txt", options=["metric=nosuch"]))
        self.assertNotIn(said, self.cat(words, "summary.txt", options=["metric=calls"]))
        self.assertNotIn(said, self.cat(words, "summary.txt"))
        self.assertEqual(self.cat(words, "runs/run=b/windows/0-1us/functions.csv"),
                         run("--cat", b, "windows/0-1us/functions.csv").stdout)

    def test_time_is_that_of_the_measurement(self):
        table = {r["run"]: r["time"] for r in self.rows([f"{name}={path}" for name, path in self.sources()], "runs.csv")}
        self.assertEqual(table["small"], "")
        self.assertRegex(table["calls"], r"^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ$")

    def test_functions_of_all(self):
        words = [f"{name}={path}" for name, path in self.sources()]
        table, at = self.rows(words, "functions.csv"), 0
        for name, path in self.sources():
            for want in rows(run("--cat", path, "functions.csv").stdout):
                self.assertEqual((table[at]["run"], table[at]["repetition"]), (name, "1"))
                self.assertEqual({k: table[at][k] for k in want}, want)
                at += 1
        self.assertEqual(at, len(table))
        lines = self.cat(words, "functions.tsv").decode().split("\n")
        self.assertEqual(lines[0].split("\t"), list(table[0]))
        self.assertEqual(len(lines), len(table) + 2)

    def test_functions_side_by_side(self):
        a, b = self.stream("a.htdump"), self.stream("b.htdump", alpha=2000, beta=0, delta=7)
        wide = {r["name"]: r for r in self.rows([f"a={a}", f"b={b}"], "functions-wide.csv")}
        self.assertEqual({k: (r["a"], r["b"]) for k, r in wide.items()},
                         {"alpha": ("1000", "2000"), "beta": ("500", ""), "main": ("50", "50"), "gamma": ("20", "20"),
                          "delta": ("", "7")})
        self.assertEqual(list(wide), ["alpha", "beta", "main", "gamma", "delta"])

    def test_noise_of_repetitions(self):
        costs = [900, 1000, 1250]
        words = [f"a={self.stream(f'{c}.htdump', alpha=c)}" for c in costs]
        table = {r["name"]: r for r in self.rows(words, "noise.csv")}
        row = table["alpha"]
        self.assertEqual((row["run"], row["repetitions"], row["min"], row["max"], row["mean"]), ("a", "3", "900", "1250", "1050"))
        self.assertAlmostEqual(float(row["stddev"]), statistics.stdev(costs), 6)
        self.assertEqual(table["beta"]["stddev"], "0")
        self.assertNotIn("noise.csv", self.names([f"a={self.path('900.htdump')}", f"b={self.path('1000.htdump')}"]))


class OneMatcher(Folder):
    """Functions that compare/ has in one row are one in every table of the root, with the same numbers."""

    RUNS = {  # name → its repetitions
        "old": [{"L$$Lambda$1.run": 700, "L$$Lambda$2.run": 11, "sweep._omp_fn.0": 40, "copy.isra.0": 5, "copy.part.1": 6, "gone": 3},
                {"L$$Lambda$3.run": 720, "L$$Lambda$4.run": 13, "sweep._omp_fn.0": 44, "copy.isra.0": 7, "copy.part.1": 8}],
        "new": [{"L$$Lambda$9.run": 650, "L$$Lambda$2.run": 17, "sweep._omp_fn.2": 80, "copy": 25, "fresh": 9}],
        "next": [{"L$$Lambda$5.run": 640, "sweep._omp_fn.0": 30, "sweep._omp_fn.1": 55, "copy.part.1": 15, "copy.isra.0": 2, "fresh": 4}],
    }

    def words(self):
        return [f"{name}={self.stream_of(f'{name}{k}.htdump', costs, 1 + k)}"
                for name, runs in self.RUNS.items() for k, costs in enumerate(runs)]

    def stream_of(self, path, costs, threads):
        return streams.write(self.path(path), {"main": 1, **costs}, threads)

    def compared(self, words, name):
        return self.rows(words, f"compare/{name}/functions.csv")

    def test_how_they_match(self):
        rows = {r["name"]: r for r in self.compared(self.words(), "new")}
        self.assertEqual({name: r["matched"] for name, r in rows.items()},
                         {"main": "exact", "L$$Lambda.run (5 names)": "joined", "sweep._omp_fn.2": "group", "copy": "joined",
                          "gone": "", "fresh": ""})
        self.assertEqual((rows["L$$Lambda.run (5 names)"]["time_ns_excl_base"], rows["L$$Lambda.run (5 names)"]["time_ns_excl"]),
                         (str((711 + 2 * 733) / 2).removesuffix(".0"), "667"))
        joined = {r["joined"] for r in self.rows(self.words(), "compare/new/names.csv") if r["name"] == "copy"}
        self.assertEqual(joined, {"copy", "copy.isra.0", "copy.part.1"})

    def test_exactly(self):
        names = {name for runs in self.RUNS.values() for costs in runs for name in costs}
        for name in ("new", "next"):
            for row in self.rows(self.words(), f"compare/{name}/functions.csv", ("exact",)):
                self.assertIn(row["name"], names | {"main"})
                self.assertIn(row["matched"], ("exact", ""))

    def test_all_tables_have_the_same_numbers(self):
        words = self.words()
        wide, noise, scaling = (self.rows(words, t) for t in ("functions-wide.csv", "noise.csv", "scaling.csv"))
        for name in ("new", "next"):
            rows = self.compared(words, name)
            mine = [(r["name"], r["time_ns_excl_base"], r["time_ns_excl"]) for r in rows]
            self.assertEqual(sorted(mine), sorted((r["name"], r["time_ns_excl_base"], r["time_ns_excl"])
                                                  for r in scaling if r["run"] == name))
            for column, pick in (("time_ns_excl", [name + "/1"]), ("time_ns_excl_base", ["old/1", "old/2"])):
                means = sorted(float(r[column]) for r in rows if r[column])
                shown = [[float(r[c] or 0) for c in pick] for r in wide if any(r[c] for c in pick)]
                # Rows that another comparison joins are one: sums are the same, and here all but the clones are alike.
                self.assertAlmostEqual(sum(means), sum(sum(v) for v in shown) / len(pick), 9)
        own = {r["name"]: r["mean"] for r in noise if r["run"] == "old"}
        base = {r["name"]: r["time_ns_excl_base"] for r in self.compared(words, "new") if r["time_ns_excl_base"]}
        self.assertEqual(sorted(own.values()), sorted(base.values()))

    def test_two_names_have_the_same_rows(self):
        words = [w for w in self.words() if not w.startswith("next=")]
        rows = self.compared(words, "new")
        wide = self.rows(words, "functions-wide.csv")
        noise = self.rows(words, "noise.csv")

        def mean(cells):
            return sum(float(c or 0) for c in cells) / len(cells) if any(cells) else None

        self.assertEqual(sorted(((mean([r["old/1"], r["old/2"]]) or 0, mean([r["new/1"]]) or 0) for r in wide)),
                         sorted((float(r["time_ns_excl_base"] or 0), float(r["time_ns_excl"] or 0)) for r in rows))
        for run, column in (("old", "time_ns_excl_base"), ("new", "time_ns_excl")):
            self.assertEqual(sorted((r["mean"], r["stddev"]) for r in noise if r["run"] == run),
                             sorted((r[column], r[column + "_stddev"]) for r in rows if r[column]))


class Scaling(Folder):
    def words(self):
        return [f"n{n}={self.stream(f'{n}.htdump', threads=n, alpha=8000 // n)}" for n in (1, 2, 4)]

    def test_losses(self):
        words = self.words()
        names = self.names(words)
        self.assertIn("scaling.csv", names)
        self.assertEqual(self.names(words, "scaling"), ["contexts.csv"])
        for options, factor in (((), lambda n: 1), (("scaling=weak",), lambda n: n)):
            table = self.rows(words, "scaling.csv", options)
            self.assertEqual(list(table[0])[:3], ["threads_base", "threads", "run"])
            self.assertEqual(list(table[0])[-3:], ["loss", "loss_share", "name"])
            self.assertEqual({r["run"] for r in table}, {"n2", "n4"})
            for row in table:
                n = int(row["threads"])
                alone = {"alpha": 8000, "main": 50, "beta": 500, "gamma": 20}[row["name"]]
                cost = 8000 if row["name"] == "alpha" else alone * n
                loss = cost - alone * factor(n)
                self.assertEqual((row["threads_base"], row["run"], row["loss"]), ("1", f"n{n}", str(loss)), row)
                whole = 8000 + 570 * n
                self.assertAlmostEqual(float(row["loss_share"]), loss / whole, 12)
            self.assertIn("loss = W - W_base" + ("" if not options else " * threads / threads_base"),
                          self.cat(words, "README.txt", options=options).decode())

    def test_lanes_are_no_threads(self):
        words = [f"{name}={os.path.join(SOURCES, source)}" for name, source in
                 (("a", "array.json"), ("b", "kineto.pt.trace.json.gz"))]
        for row in self.rows(words, "runs.csv"):
            alone = run("--cat", os.path.join(SOURCES, dict(w.split("=") for w in words)[row["run"]]), "info.json")
            self.assertEqual(int(row["threads"]), json.loads(alone.stdout)["threads"], row)
        self.assertNotIn("scaling.csv", self.names(words))

    def test_threads_of_repetitions_are_a_mean(self):
        words = [f"{name}={self.stream(f'{n}.htdump', threads=n)}" for name, n in (("a", 1), ("a", 2), ("b", 2), ("b", 4))]
        words.insert(2, f"b={self.path('missing')}")
        for options, factor in (((), 1), (("scaling=weak",), 2)):
            for table in ("scaling.csv", "scaling/contexts.csv"):
                rows = self.rows(words, table, options)
                self.assertEqual({(r["threads_base"], r["threads"], r["run"]) for r in rows}, {("1.5", "3", "b")})
            loss = {r["name"]: float(r["loss"]) for r in self.rows(words, "scaling.csv", options)}
            self.assertEqual(loss["beta"], 3 * 500 - 1.5 * 500 * factor)

    def check_contexts(self, words, column, options):
        """Losses by context add up to those by function."""
        table, contexts = self.rows(words, "scaling.csv", options), self.rows(words, "scaling/contexts.csv", options)
        self.assertTrue(table)
        for run in ("n2", "n4"):
            for c in (column + "_base", column, "loss", "loss_share"):
                total = sum(float(row[c]) for row in table if row["run"] == run)
                self.assertAlmostEqual(sum(float(row[c]) for row in contexts if row["run"] == run), total, 9, (run, c))

    def test_contexts_lose_what_functions_lose(self):
        words = self.words()
        for options in ((), ("normalize",), ("scaling=weak",)):
            self.check_contexts(words, "time_ns_excl", options)

    def test_the_summary_begins_with_a_table(self):
        words = [f"n{n}={self.stream(f'{n}.htdump', threads=n, alpha=8000 // n)}" for n in (16, 2, 4)]
        text = self.cat(words, "summary.txt", options=["base=n2"]).decode()
        lines = [line.split() for line in text.splitlines()]
        self.assertEqual(lines[0], ["run", "threads", "duration", "speedup", "efficiency", "total"])
        self.assertEqual([line[:2] for line in lines[1:4]], [["n2", "2"], ["n4", "4"], ["n16", "16"]])
        duration = {n: 8000 / n + 570 for n in (2, 4, 16)}
        for line, n in zip(lines[1:4], (2, 4, 16)):
            speedup = duration[2] / duration[n]
            self.assertEqual(line[4:6], [f"{speedup:.2f}", f"{100 * speedup * 2 / n:.1f}%"])
        self.assertIn("functions that lose most in n16", text)
        self.assertIn("  beta\n", text)
        self.assertNotIn("more", text.replace("-o scaling", ""))
        self.assertNotIn("The baseline has not the fewest", text)
        self.assertIn("The baseline has not the fewest", self.cat(words, "summary.txt").decode())
        self.assertNotIn("cost more", self.cat(words, "compare/n2/summary.txt").decode())
        self.assertIn("threads: 2 against 16;", self.cat(words, "compare/n2/summary.txt").decode())
        weak = self.cat(words, "summary.txt", options=["base=n2", "scaling=weak"]).decode().splitlines()[3].split()
        self.assertEqual(weak[5], f"{100 * duration[2] / duration[16]:.1f}%")

    def test_a_folder_begins_with_the_fewest_threads(self):
        for n in (10, 9, 2):
            self.stream(f"runs/b{n}.htdump", threads=n)
        self.stream("runs/a4.htdump", threads=4)
        folder = [self.path("runs")]
        self.assertEqual([r["run"] for r in self.rows(folder, "runs.csv")], ["a4.htdump", "b2.htdump", "b9.htdump", "b10.htdump"])
        self.assertEqual(json.loads(self.cat(folder, "info.json"))["baseline"], "b2.htdump")
        self.assertEqual(self.names(folder, "compare"), ["a4.htdump", "b9.htdump", "b10.htdump"])
        self.assertEqual(json.loads(self.cat(folder, "info.json", options=["base=b9.htdump"]))["baseline"], "b9.htdump")
        given = [self.path("runs", f"b{n}.htdump") for n in (9, 2)]
        self.assertEqual(json.loads(self.cat(given, "info.json"))["baseline"], "b9.htdump")

    def test_other_quantities_do_not_scale(self):
        """Threads are compared between runs that have the primary quantity; of the others, the table says that they lack it."""
        folded = self.path("folded.txt")
        with open(folded, "w") as f:
            f.write("a;b 3\n")
        few, many = (f"n{n}={self.stream(f'{n}.htdump', threads=n)}" for n in (2, 4))
        for words in ([few, f"x={folded}"], [f"x={folded}", few, many]):
            text = self.cat(words, "summary.txt").decode()
            self.assertNotIn("speedup", text)
            self.assertNotIn("scaling.csv", self.names(words))
        text = self.cat([few, many, f"x={folded}"], "summary.txt").decode()
        self.assertIn("speedup", text)
        self.assertRegex(text, r"\n  x +does not have it\n")

    def test_efficiency_is_of_samples(self):
        self.assertNotIn("efficiency.csv", self.names(self.words()))

    def test_counts_lead(self):
        words, options = self.words(), ("metric=calls",)
        self.check_contexts(words, "calls_excl", options)
        contexts = self.rows(words, "scaling/contexts.csv", options)
        self.assertEqual({row["loss_incl"] for row in contexts}, {""})
        self.assertEqual([(row["n1"], row["n4"]) for row in self.rows(words, "functions-wide.csv", options)], [("1", "4")] * 4)
        self.assertEqual([row["calls"] for row in self.rows(words, "runs.csv", options)], ["4", "8", "16"])
        self.assertIn("whole calls", self.cat(words, "summary.txt", options=options).decode())

    def test_not_there_where_threads_are_the_same(self):
        words = [f"{n}={self.stream(f'{n}.htdump', threads=2)}" for n in ("a", "b")]
        self.assertNotIn("scaling.csv", self.names(words))
        self.assertNotIn("scaling", self.names(words))
        self.assertIn("No such file", self.fails("--cat", *words, "--", "scaling.csv"))
        self.assertIn("No such file", self.fails("--ls", *words, "--", "scaling"))


class Broken(Folder):
    """A source that cannot be opened affects nothing else."""

    def setUp(self):
        super().setUp()
        self.good, self.other = self.stream("good.htdump"), self.stream("other.htdump", alpha=1100)
        for name, data in (("empty", b""), ("text", b"no profile\n" * 99)):
            with open(self.path(name), "wb") as f:
                f.write(data)
        os.mkdir(self.path("half"))
        shutil.copy(os.path.join(SOURCES, "hpctoolkit", "profile.db"), self.path("half"))
        self.broken = ["missing", "empty", "text", "half"]
        self.words = [f"base={self.good}", *[f"{n}={self.path(n)}" for n in self.broken], f"new={self.other}"]

    def test_its_row_says_why_and_its_directory_has_damage_alone(self):
        os.remove(os.path.join(self.path("half"), "profile.db"))
        shutil.copytree(os.path.join(SOURCES, "hpctoolkit"), self.path("half"), dirs_exist_ok=True)
        os.remove(os.path.join(self.path("half"), "meta.db"))
        table = {r["run"]: r for r in self.rows(self.words, "runs.csv")}
        for name in self.broken:
            row = table[name]
            self.assertTrue(row["error"], name)
            self.assertEqual((row["contexts"], row["format"], row["time_ns"]), ("", "", ""), name)
            self.assertEqual(self.names(self.words, row["path"]), ["damage.csv"], name)
            self.assertEqual(len(self.rows(self.words, row["path"] + "/damage.csv")), 1, name)
        self.assertEqual((table["base"]["error"], table["new"]["error"]), ("", ""))
        self.assertEqual({r["run"] for r in self.rows(self.words, "damage.csv")}, set(self.broken))

    def test_nothing_else_suffers(self):
        alone = [self.words[0], self.words[-1]]
        for path in ("functions.csv", "compare/new/functions.csv", "runs/run=base/functions.csv", "runs/run=new/contexts.csv"):
            self.assertEqual(self.cat(self.words, path), self.cat(alone, path), path)
        self.assertIn("base", self.cat(self.words, "summary.txt").decode())

    def test_a_run_whose_calls_cannot_be_read_is_left_out(self):
        """It can be opened, so it is what it is alone, whatever has been read before."""
        deep = streams.nested(self.path("deep.htdump"), 1_000_001)
        words = [f"base={self.good}", f"base={deep}", f"new={self.other}"]
        alone = [f"base={self.good}", f"new={self.other}"]
        tree = self.names([deep])
        for first in ("runs.csv", "README.txt"):
            done = run("--cat", *words, "--", first, "functions.csv", "compare/new/metrics.csv")
            self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.rows(words, "compare/new/metrics.csv"), self.rows(alone, "compare/new/metrics.csv"))
        self.assertIn("1 of 3 runs cannot be read", self.cat(words, "compare/new/summary.txt").decode())
        row = self.rows(words, "runs.csv")[1]
        self.assertIn("deeper than 1000000 levels", row["error"])
        self.assertEqual(self.names(words, row["path"]), [n for n in tree if n not in FILTERS])
        self.assertEqual({r["repetition"] for r in self.rows(words, "functions.csv") if r["run"] == "base"}, {"1"})

    def test_a_broken_repetition_counts_for_nothing(self):
        words = [f"base={self.good}", f"base={self.path('empty')}", f"new={self.other}"]
        alone = [f"base={self.good}", f"new={self.other}"]
        for path in ("compare/new/metrics.csv",):
            self.assertEqual(self.rows(words, path), self.rows(alone, path))
        self.assertEqual({r["repetitions"] for r in self.rows(words, "noise.csv")}, {"1"})

    def test_a_comparison_with_a_broken_side_says_why(self):
        words = [f"base={self.path('empty')}", f"new={self.other}", f"more={self.good}"]
        self.assertEqual(self.names(words, "compare"), ["new", "more"])
        self.assertEqual(self.names(words, "compare/new"), ["damage.csv"])
        self.assertIn("is empty", self.cat(words, "compare/new/damage.csv").decode())
        self.assertIn("more", self.cat(words, "summary.txt").decode())

    def test_check(self):
        good = [f"base={self.good}", f"new={self.other}"]
        self.assertEqual(run("--check", *good).returncode, 0)
        self.assertEqual(run("--check", *good, "--").returncode, 0)
        done = run("--check", *self.words)
        self.assertEqual(done.returncode, 1)
        self.assertEqual({line.split(":")[0] for line in done.stdout.decode().splitlines()}, set(self.broken))
        self.assertEqual(run("--check", self.path("empty"), self.path("text")).returncode, 2)


class Summary(Folder):
    """summary.txt and README.txt of the root."""

    def summary(self, **runs):
        return self.cat([f"{name}={path}" for name, path in runs.items()], "summary.txt").decode()

    def test_amounts_have_units(self):
        text = self.summary(base=self.stream("a.htdump"), new=self.stream("b.htdump", alpha=1100))
        whole = sum(COSTS.values())
        self.assertRegex(text, rf"\n  base +{whole / 1000:.3f} µs  baseline\n  new +{whole / 1000 + 0.1:.3f} µs  \+6\.37%\n")
        self.assertNotRegex(text, r"\de\+\d")

    def test_names_that_do_not_fit_differ(self):
        for threads in (1, 2):  # without and with the columns of scaling
            names = [f"CPU.20261127.170812.22{n}.0.001.of-the-program.profile" for n in (807, 875, 878)]
            paths = {name: self.stream(name, threads if name == names[2] else 1) for name in names}
            lines = self.summary(**paths).splitlines()
            shown = [line.split()[0] for line in lines if line.startswith("  CPU")]
            self.assertEqual(len(shown), 3, lines)
            for name, number in zip(shown, ("807", "875", "878")):
                self.assertIn(number, name)

    def test_no_comparison_is_left_empty(self):
        same, other = self.stream("a.htdump"), self.stream("b.htdump", alpha=1100)
        text = self.summary(base=same, same=self.stream("c.htdump"), new=other, bad=self.path("missing"),
                            other=os.path.join(SOURCES, "0400.hpcrun"))
        said = dict(part.split(" against base, own cost of functions\n") for part in text.split("\n\n")[1:])
        self.assertEqual(said["same"], "  no difference")
        self.assertEqual(said["bad"], "  cannot be compared: see damage.csv")
        self.assertIn("alpha", said["new"])
        self.assertEqual(said["other"].rstrip(), "  no quantity in common")
        self.assertRegex(text, r"\n  other +does not have it\n")

    def test_nothing_in_common_has_no_shares(self):
        words = [f"a={self.stream('a.htdump')}", f"b={os.path.join(SOURCES, '0400.hpcrun')}"]
        self.assertIn("-o normalize compares nothing", self.cat(words, "summary.txt", options=["normalize"]).decode())
        self.assertIn("(-o normalize)", self.cat(words, "compare/b/summary.txt", options=["normalize"]).decode())

    def test_without_changes_beyond_the_noise(self):
        words = [f"{name}={self.stream(f'{name}{i}.htdump', alpha=1000 + i)}" for i in range(3) for name in ("base", "new")]
        self.assertIn("own cost of functions\n  no change beyond the noise\n", self.cat(words, "summary.txt").decode())

    def test_repetitions_without_the_quantity_are_not_counted(self):
        words = [f"base={self.stream('a.htdump')}", f"base={os.path.join(SOURCES, '0400.hpcrun')}", f"new={self.stream('b.htdump')}"]
        self.assertRegex(self.cat(words, "summary.txt").decode(), r"\n  base +1.570 µs  baseline  mean of 1\n")

    def test_the_readme_describes_scaling_where_there_is_some(self):
        a, b = self.stream("a.htdump"), self.stream("b.htdump", threads=2)
        self.assertNotIn("scaling.csv", self.cat([f"x={a}", f"y={a}"], "README.txt").decode())
        self.assertIn("In scaling.csv W", self.cat([f"x={a}", f"y={b}"], "README.txt").decode())


class Hostile(Folder):
    NAMES = ("plain", "with space", 'quo"te', "comma,comma", "new\nline", ".", "..", ".hidden", "%41", "$(x)", "<b>&amp;", "a" * 300,
             "a" * 299 + "b", "tab\tname", "back\\slash", "*", "'", "base", "name", "module", "README.txt", "\u00fc\u2215\u00e9",
             b"\xff\xfe".decode("utf-8", "surrogateescape"))

    def test_names(self):
        a = self.stream("a.htdump")
        words = [f"{name}={a}" for name in self.NAMES]
        table = self.rows(words, "runs.csv")
        self.assertEqual([r["run"] for r in table],
                         [n.encode("utf-8", "surrogateescape").decode("utf-8", "replace") for n in self.NAMES])
        self.assertEqual(len({r["path"] for r in table}), len(self.NAMES))
        for place, count in (("runs", len(self.NAMES)), ("compare", len(self.NAMES) - 1)):
            names = run("--ls", *words, "--", place).stdout.decode().splitlines()
            self.assertEqual(len(set(names)), count)
            for name in names:
                self.assertTrue(name.isprintable() or "\ufffd" in name, name)
                self.assertLessEqual(len(name.encode()), 255)
                self.assertNotIn(name[0], ".-")
        for row in table:
            self.assertTrue(self.cat(words, row["path"] + "/functions.csv"))
        self.assertTrue(any(r["path"] == "runs/run=%2541" for r in table))
        header = next(csv.reader(io.StringIO(self.cat(words, "functions-wide.csv").decode())))
        self.assertEqual(len(set(header)), len(header))

    def test_formats_and_names_meet(self):
        words = [f"x={self.stream('a.htdump')}", f"x={os.path.join(SOURCES, 'hpctoolkit')}",
                 f"y={os.path.join(SOURCES, 'nytprof.out')}"]
        self.assertEqual([r["format"] for r in self.rows(words, "runs.csv")], ["htdump", "hpctoolkit", "nytprof"])
        for path in ("summary.txt", "functions-wide.csv", "noise.csv", "compare/y/functions.csv"):
            self.assertTrue(self.cat(words, path), path)


if __name__ == "__main__":
    os.closerange(3, 1 << 16)  # what was inherited counts against the limits of children
    unittest.main(argv=sys.argv[:1], verbosity=2)
