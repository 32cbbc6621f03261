#!/usr/bin/env python3
"""Fresh profiles of real programs, compared with the output of Devel::NYTProf's own tools.

    test_real.py PROFMOUNT

Needs perl with Devel::NYTProf (Debian: libdevel-nytprof-perl); exit 77 without it.
"""
import collections
import csv
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
PROFMOUNT = [*os.environ.get("EMULATOR", "").split(), os.path.abspath(sys.argv[1])]

SCRIPT = r"""
package Animal;
sub new { my ($class, $name) = @_; return bless {name => $name}, $class }
sub name { $_[0]{name} }
package main;
sub fib { my $n = shift; return $n < 2 ? $n : fib($n - 1) + fib($n - 2) }
sub even { $_[0] ? odd($_[0] - 1) : 1 }
sub odd { $_[0] ? even($_[0] - 1) : 0 }
my @sorted = sort { $a <=> $b } map { eval "fib($_) + $_" } 1 .. 9;
my $closure = do { my $count = 0; sub { even(7); $count++ } };
$closure->() for 1 .. 20;
print join(" ", @sorted, map { $_->name } map { Animal->new($_) } qw(a b c)), "\n";
"""
FORKING = SCRIPT + r"""
for my $n (5 .. 7) { my $pid = fork; if (!$pid) { fib($n); exit 0 } waitpid $pid, 0 }
"""
JSON = '{"a": [1, 2, {"b": "text"}], "c": null}'


def programs(folder):
    """(name, standard input, command after perl -d:NYTProf); those that are not installed are left out.

    A program may be there and not run: Debian's perldoc asks for perl-doc.
    """
    script, test = os.path.join(folder, "script.pl"), os.path.join(folder, "one.t")
    with open(script, "w") as f:
        f.write(SCRIPT)
    with open(test, "w") as f:
        f.write('use Test::More tests => 2; ok(1); is("a", "a");\n')
    yield "script", None, [script]
    arguments = {"prove": ["-q", test], "json_pp": [], "pod2text": [shutil.which("prove") or ""], "corelist": ["strict"],
                 "perldoc": ["-T", "-f", "open"], "ack": ["--noenv", "sub", folder]}
    for name, more in arguments.items():
        path = shutil.which(name)
        if path:
            yield name, JSON if name == "json_pp" else None, [path, *more]


def runs(stdin, command):
    return subprocess.run(["perl", *command], input=stdin, text=True, check=False, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, timeout=600).returncode == 0


def profile(folder, name, options, stdin, command):
    out = os.path.join(folder, name + ".out")
    env = {**os.environ, "NYTPROF": f"file={out}:{options}", "LC_ALL": "C.UTF-8"}
    subprocess.run(["perl", "-d:NYTProf", *command], env=env, input=stdin, text=True, check=True,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=600)
    return out


def extract(source, folder, *paths):
    shutil.rmtree(folder, ignore_errors=True)
    subprocess.run([*PROFMOUNT, "--extract", source, folder, *paths], check=True, timeout=600)


def rows(folder, name):
    with open(os.path.join(folder, name), newline="", encoding="utf-8") as f:
        return list(csv.DictReader(f))


def dump(out):
    done = subprocess.run(["perl", os.path.join(HERE, "dump.pl"), out], check=True, capture_output=True, timeout=600)
    tables = collections.defaultdict(list)
    for line in done.stdout.decode("utf-8", "replace").splitlines():
        what, *fields = line.split("\t")
        tables[what].append(fields)
    return tables


def stacks(out):
    """{stack: ticks} of nytprofcalls."""
    done = subprocess.run(["nytprofcalls", out], check=True, capture_output=True, text=True, timeout=600)
    return {stack: int(ticks) for stack, _, ticks in (line.rpartition(" ") for line in done.stdout.splitlines())}


def as_stack(name):
    """A name as nytprofcalls shows it."""
    return re.sub(r"[ ;]", "?", re.sub(r"(\((?:re_)?eval )\d+\)", r"\g<1>0)", name))


class Real(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="profmount-nytprof-")
        self.view = os.path.join(self.folder, "view")
        self.addCleanup(shutil.rmtree, self.folder)

    def check_subs(self, wanted):
        got = {r["name"]: (r["calls"], float(r["incl_s"]), float(r["excl_s"])) for r in rows(self.view, "raw/subs.csv")}
        for name, calls, incl, excl in wanted["sub"]:
            self.assertEqual(got.pop(name), (calls, float(incl), float(excl)), name)
        self.assertEqual(got, {})
        got = {(r["callee"], r["caller_fid"], r["caller_line"]): (r["count"], float(r["incl_s"]))
               for r in rows(self.view, "raw/callers.csv")}
        want = {(name, fid, line): (count, float(incl)) for name, fid, line, count, incl in wanted["call"]}
        self.assertEqual({k: v for k, v in want.items() if k not in got}, {})
        for key, value in got.items():
            self.assertEqual(value, want[key], key)

    def check_lines(self, wanted):
        got = {(r["fid"], r["line"]): (r["count"], int(r["ticks"])) for r in rows(self.view, "raw/lines.csv")}
        for fid, line, seconds, count in wanted["line"]:
            calls, ticks = got.pop((fid, line))
            self.assertEqual(calls, count, (fid, line))
            self.assertAlmostEqual(ticks / 1e7, float(seconds), 9)
        self.assertEqual(got, {})

    def check_contexts(self, wanted):
        paths, got = {"": ""}, collections.Counter()
        for r in rows(self.view, "contexts.csv"):
            above = paths[r["parent_id"]]
            paths[r["context_id"]] = path = (above + ";" if above else "") + as_stack(r["name"])
            got[path] += round(float(r["time_ns_excl"]) / 100)
        self.assertEqual(dict(got), wanted)

    def test_programs_agree_with_the_stock_reader(self):
        for name, stdin, command in programs(self.folder):
            if not runs(stdin, command):
                with self.subTest(name):
                    self.skipTest(f"{name} does not run here, profiled or not")
                continue
            for options in ("compress=6", "compress=0:blocks=1:calls=2"):
                with self.subTest(name, options=options):
                    out = profile(self.folder, name, options, stdin, command)
                    extract(out, self.view, "raw", "contexts.csv", "damage.csv")
                    wanted = dump(out)
                    self.assertTrue(wanted["sub"])
                    self.check_subs(wanted)
                    self.check_lines(wanted)
                    self.check_contexts(stacks(out))
                    self.assertEqual(rows(self.view, "damage.csv"), [])

    def test_saved_source_is_the_script(self):
        script = os.path.join(self.folder, "script.pl")
        list(programs(self.folder))
        out = profile(self.folder, "script", "compress=0", None, [script])
        extract(out, self.view, "source")
        with open(os.path.join(self.view, "source", script.lstrip("/"))) as f:
            self.assertEqual(f.read(), SCRIPT)

    def test_forked_processes_are_threads(self):
        script, run = os.path.join(self.folder, "forking.pl"), os.path.join(self.folder, "run")
        os.mkdir(run)
        with open(script, "w") as f:
            f.write(FORKING)
        out = profile(run, "nytprof", "compress=6", None, [script])
        pids = [name.rpartition(".")[2] for name in os.listdir(run) if name != "nytprof.out"]
        self.assertEqual(len(pids), 3)
        extract(run, self.view, "threads.csv", "threads")
        threads = {r["process"]: r for r in rows(self.view, "threads.csv")}
        self.assertEqual(len(threads), 4)
        for pid in pids:
            calls = sum(int(sub[1]) for sub in dump(f"{out}.{pid}")["sub"])
            self.assertEqual(int(threads[pid]["calls"]), calls)
            subs = rows(self.view, f"threads/process={pid}/raw/subs.csv")
            self.assertEqual(sum(int(r["calls"]) for r in subs), calls)

    def test_killed_program_is_salvaged(self):
        script = os.path.join(self.folder, "killed.pl")
        with open(script, "w") as f:
            f.write("sub work { my $n = shift; inner($_) for 1 .. $n } sub inner { $_[0] * 2 }\n"
                    "work(100) for 1 .. 4000; kill 9, $$; sleep 9;\n")
        for compress in (0, 6):
            out = os.path.join(self.folder, f"killed{compress}.out")
            env = {**os.environ, "NYTPROF": f"file={out}:compress={compress}"}
            subprocess.run(["perl", "-d:NYTProf", script], env=env, stdout=subprocess.DEVNULL, timeout=600)
            extract(out, self.view, "contexts.csv", "damage.csv")
            inner = sum(int(r["calls"]) for r in rows(self.view, "contexts.csv") if r["name"] == "main::inner")
            self.assertGreater(inner, 1000)
            what = " ".join(r["what"] for r in rows(self.view, "damage.csv"))
            self.assertIn("did not finish", what)


if __name__ == "__main__":
    try:
        subprocess.run(["perl", "-MDevel::NYTProf::Data", "-e1"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        print("SKIPPED: perl has no Devel::NYTProf (Debian: apt-get install libdevel-nytprof-perl)", file=sys.stderr)
        sys.exit(77)
    unittest.main(argv=sys.argv[:1], verbosity=2)
