#!/usr/bin/env python3
"""The command line without a mount.

    test_commands.py PROFMOUNT SOURCE FOLDER

FOLDER: sources of all formats.
"""
import gzip
import os
import re
import struct
import subprocess
import sys
import tempfile
import unicodedata
import unittest

PROFMOUNT, SOURCE, SOURCES = (os.path.abspath(p) for p in sys.argv[1:4])
STORE = os.path.join(SOURCES, "zts")


def run(*args, **more):
    return subprocess.run([PROFMOUNT, *args], stdin=subprocess.DEVNULL, capture_output=True, timeout=600, **more)


def profile_of(*calls, files=("/x.pl",)):
    """A NYTProf profile, version 5, with calls of these depths and names and files of these names, each with a text."""
    def number(n):
        return bytes([n]) if n < 0x80 else bytes([0x80 | n >> 8, n & 255])  # below 16384

    def text(name):
        return b"'" + number(len(name.encode())) + name.encode()

    spent = struct.pack("<dd", 1.0, 1.0)
    return b"".join((
        b"NYTProf 5 0\n:basetime=1795248845\n:application=x.pl\n:nv_size=8\n:ticks_per_sec=10000000\n!subs=1\n",
        b"P" + number(1234) + number(1) + struct.pack("<d", 1795248845.5),
        *(b"@" + number(i) + number(0) * 5 + text(file) for i, file in enumerate(files, 1)),
        *(b"S" + number(i) + number(1) + text("a,b\n") for i, _ in enumerate(files, 1)),
        b"+" + number(10) + number(1) + number(1),
        *(b"<" + number(depth) + spent + text(name) for depth, name in calls),
        b"p" + number(1234) + struct.pack("<d", 1795248846.5)))


HOSTILE = "\x1b]0;title\x07 \x9b31m \u202egpj.exe \u200b\u2066\u00ad\U000e0041"


def is_safe(text):
    """Nothing that a terminal obeys: no control or format character but the ends of lines."""
    return not any(unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp") for c in text if c != "\n")


def listing(path="", source=SOURCE):
    return run("--ls", source, path).stdout.decode().splitlines()


class Commands(unittest.TestCase):
    def test_help_and_version_go_to_standard_output(self):
        for option in ("-h", "--help"):
            done = run(option)
            self.assertEqual((done.returncode, done.stderr), (0, b""))
            self.assertIn(b"SOURCE MOUNTPOINT", done.stdout)
        for option in ("-V", "--version"):
            first, *more = run(option).stdout.decode().splitlines()
            self.assertRegex(first, r"^profmount \d+\.\d+\.\d+$")
            self.assertRegex(more[0], r"^built with: zlib \d.*, libdeflate ")
            self.assertRegex(more[1], "^built without: .")
            self.assertRegex(more[2], "^reading is confined by: .")

    def test_a_comma_in_an_option_is_written_with_a_backslash(self):
        with tempfile.TemporaryDirectory() as folder:
            done = run("-o", r"iterations=f(a\, b),metric=cputime_sec", "--cat", SOURCE, "iterations.csv")
            self.assertIn(b"`f(a, b)`", done.stderr)
            done = run("-o", "iterations=f(a, b)", "--ls", folder)
            self.assertIn(b"-o  b): no such option", done.stderr)

    def test_the_option_that_is_none_is_said(self):
        for words, option in ((("-x=b",), "-x"), (("-fx",), "-x"), (("--nosuch",), "--nosuch"), (("--ls=3",), "--ls=3")):
            done = run("--cat", "a=source", *words, "--", "runs.csv")
            self.assertEqual(done.stderr.decode(), f"profmount: {option}: no such option (see -h)\n")

    def test_formats_are_listed(self):
        done = run("--formats")
        self.assertEqual(done.returncode, 0)
        self.assertIn(b"hpctoolkit", done.stdout)

    def test_ls_marks_directories(self):
        names = listing()
        self.assertIn("contexts/", names)
        self.assertIn("README.txt", names)
        self.assertEqual(listing("README.txt"), ["README.txt"])
        self.assertEqual(listing("./contexts//"), listing("contexts"))

    def test_tables_as_tsv_are_listed_on_demand(self):
        """In runs and comparisons, too. What is listed is extracted."""
        both = ["a=" + SOURCE, "b=" + SOURCE, "--"]
        for source, folder in ([SOURCE], ""), (both, ""), (both, "compare/b"), (both, "runs/run=a"):
            plain = run("--ls", *source, folder).stdout.split()
            listed = set(run("-o", "tsv", "--ls", *source, folder).stdout.split())
            self.assertIn(b"functions.csv", plain)
            self.assertFalse([name for name in plain if name.endswith(b".tsv")], folder)
            self.assertEqual({name for name in listed if not name.endswith(b".tsv")}, set(plain))
            self.assertIn(b"functions.tsv", listed)
            found = run("--cat", *source, os.path.join(folder, "functions.tsv"))
            self.assertIn(b"\t", found.stdout)
        with tempfile.TemporaryDirectory() as folder:
            for options, there in ((), False), (("-o", "tsv"), True):
                out = os.path.join(folder, str(there))
                self.assertEqual(run(*options, "--extract", SOURCE, out, "threads").returncode, 0)
                names = {name for _, _, names in os.walk(out) for name in names}
                self.assertIn("profile.csv", names)
                self.assertEqual("profile.tsv" in names, there)

    def test_each_file_of_a_database_stands_for_it(self):
        contexts = run("--cat", SOURCE, "contexts.csv").stdout
        for name in ("meta.db", "profile.db", "cct.db", "trace.db"):
            self.assertEqual(run("--cat", os.path.join(SOURCE, name), "contexts.csv").stdout, contexts, name)

    def test_cat_takes_several_paths_and_names_missing_ones(self):
        one, two = run("--cat", SOURCE, "info.json").stdout, run("--cat", SOURCE, "metrics.csv").stdout
        self.assertEqual(run("--cat", SOURCE, "info.json", "metrics.csv").stdout, one + two)
        done = run("--cat", SOURCE, "no/such", "info.json")
        self.assertEqual((done.returncode, done.stdout), (1, one))
        self.assertIn(b"no/such", done.stderr)

    def test_extract_writes_what_cat_prints(self):
        with tempfile.TemporaryDirectory() as folder:
            done = run("--extract", SOURCE, os.path.join(folder, "all"))
            self.assertEqual((done.returncode, done.stderr), (0, b""))
            files = [os.path.join(d, n) for d, _, names in os.walk(folder) for n in names]
            self.assertGreater(len(files), 20)
            for path in files[::max(1, len(files) // 60)]:
                with open(path, "rb") as f:
                    name = os.path.relpath(path, os.path.join(folder, "all"))
                    self.assertEqual(f.read(), run("--cat", SOURCE, name).stdout, name)

    def test_extract_of_paths_writes_them_alone(self):
        with tempfile.TemporaryDirectory() as folder:
            first = listing("by-id")[0].rstrip("/")
            done = run("--extract", SOURCE, folder, "info.json", f"by-id/{first}", "no/such")
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr.decode(), r"^no/such: .*\n$")
            self.assertEqual(sorted(os.listdir(folder)), ["by-id", "info.json"])
            self.assertIn("info.txt", os.listdir(os.path.join(folder, "by-id", first)))

    def test_messages_leave_out_the_middle_of_long_paths(self):
        with tempfile.TemporaryDirectory() as folder:
            done = run("--extract", SOURCE, folder, "first/" + "middle/" * 1000 + "last", "x" * 1000)
            one, two = done.stderr.decode().splitlines()
            self.assertRegex(one, r"^first/(middle/)+\.\.\./(middle/)+last: No such file or directory$")
            self.assertRegex(two, r"^x+\.\.\.x+: No such file or directory$")
            self.assertLess(max(len(one), len(two)), 400)

    def test_extract_knows_files_from_directories(self):
        with tempfile.TemporaryDirectory() as folder:
            done = run("--extract", SOURCE, folder, "functions.csv/.")
            self.assertEqual((done.returncode, os.listdir(folder)), (1, []), done)

    def test_extract_writes_parquet_when_asked(self):
        with tempfile.TemporaryDirectory() as folder:
            plain, full = os.path.join(folder, "plain"), os.path.join(folder, "full")
            self.assertEqual(run("--extract", SOURCE, plain).returncode, 0)
            self.assertEqual(run("-o", "parquet", "--extract", SOURCE, full).returncode, 0)
            paths = [{os.path.relpath(os.path.join(d, n), top) for d, _, names in os.walk(top) for n in names} for top in (plain, full)]
            self.assertFalse([path for path in paths[0] if path.endswith(".parquet")])
            twins = {path[:-4] + ".parquet" for path in paths[0] if path.endswith(".csv") and not path.startswith("source/")}
            self.assertEqual(paths[1] - paths[0], twins | {"profiles.parquet", "timeline.parquet"})
            with open(os.path.join(full, "functions.parquet"), "rb") as f:
                self.assertEqual(f.read(), run("--cat", SOURCE, "functions.parquet").stdout)

    def test_extract_writes_parquet_of_the_tables_that_are_named(self):
        with tempfile.TemporaryDirectory() as folder:
            thread = run("--cat", SOURCE, "threads.csv").stdout.decode().splitlines()[1].split(",")[-1]
            done = run("-o", "parquet", "--extract", SOURCE, folder, "functions.csv", "info.json", f"{thread}//profile.csv/", "by-id")
            self.assertEqual((done.returncode, done.stderr), (0, b""))
            self.assertEqual(sorted(os.listdir(folder)), ["by-id", "functions.csv", "functions.parquet", "info.json", "threads"])
            self.assertEqual(sorted(os.listdir(os.path.join(folder, thread))), ["profile.csv", "profile.parquet"])
            for name in ("functions.parquet", f"{thread}/profile.parquet"):
                with open(os.path.join(folder, name), "rb") as f:
                    self.assertEqual(f.read(), run("--cat", SOURCE, name).stdout)
            done = run("-o", "parquet", "--extract", SOURCE, os.path.join(folder, "all"), "threads.csv")
            self.assertEqual(done.returncode, 0)
            self.assertEqual(sorted(os.listdir(os.path.join(folder, "all"))),
                             ["profiles.parquet", "threads.csv", "threads.parquet", "timeline.parquet"])

    def test_extract_writes_parquet_of_tables_alone(self):
        with tempfile.TemporaryDirectory() as folder:
            source, out = os.path.join(folder, "nytprof.out"), os.path.join(folder, "out")
            with open(source, "wb") as f:
                f.write(profile_of((1, "main::x"), (2, "children.parquet"), files=("/a.csv", "/a.parquet")))
            done = run("-o", "parquet", "--extract", source, out)
            self.assertEqual((done.returncode, done.stderr), (0, b""))
            texts = [os.path.join(d, n) for d, _, names in os.walk(os.path.join(out, "source")) for n in names]
            self.assertLessEqual({"a.csv", "a.parquet"}, {os.path.basename(text) for text in texts})
            above = next(d for d, names, _ in os.walk(os.path.join(out, "contexts")) if "children.parquet~2" in names)
            with open(os.path.join(above, "children.parquet"), "rb") as f:
                self.assertEqual(f.read(4), b"PAR1")

    def test_links_are_followed_as_in_a_mount(self):
        name, target = run("--ls", STORE, "slow").stdout.decode().splitlines()[0].split(" -> ")
        self.assertEqual(os.path.normpath(os.path.join("slow", target))[:6], "stores")
        there = f"slow/{target}"
        self.assertEqual(listing(f"slow/{name}", STORE), listing(there, STORE))
        self.assertIn("tree.txt", listing(there, STORE))
        tree = run("--cat", STORE, f"{there}/tree.txt").stdout
        self.assertTrue(tree)
        for path in (f"slow/{name}/tree.txt", f"./slow//{name}/../{os.path.basename(target)}/tree.txt",
                     f"../slow/{name}/./tree.txt"):
            done = run("--cat", STORE, path)
            self.assertEqual((done.stdout, done.stderr), (tree, b""), path)
        self.assertIn(b"Is a directory", run("--cat", STORE, f"slow/{name}").stderr)
        self.assertIn(b"Not a directory", run("--cat", STORE, f"slow/{name}/tree.txt/..").stderr)

    def test_windows_have_other_spellings(self):
        for source in (SOURCE, STORE):
            whole = run("--cat", source, "windows/-/functions.csv").stdout
            self.assertGreater(whole.count(b"\n"), 1)
            self.assertEqual(run("--cat", source, "windows/0ns-/functions.csv").stdout, whole)
            self.assertIn("functions.csv", listing("windows/0-/", source))
        thread = run("--cat", SOURCE, "threads.csv").stdout.decode().splitlines()[1].split(",")[-1]
        self.assertIn("trace.csv", listing(f"{thread}/windows/-/{thread}", SOURCE))

    def test_extract_follows_links_and_writes_them(self):
        name, target = run("--ls", STORE, "slow").stdout.decode().splitlines()[0].split(" -> ")
        with tempfile.TemporaryDirectory() as folder:
            done = run("--extract", STORE, folder, f"slow/{name}/tree.txt", "windows/-/functions.csv")
            self.assertEqual((done.returncode, done.stderr), (0, b""))
            self.assertEqual(os.readlink(os.path.join(folder, "slow", name)), target)
            self.assertEqual(os.listdir(os.path.join(folder, "slow", name)), ["tree.txt"])
            for path in (f"slow/{name}/tree.txt", "windows/-/functions.csv"):
                with open(os.path.join(folder, path), "rb") as f:
                    self.assertEqual(f.read(), run("--cat", STORE, path).stdout)
            self.assertEqual(run("--extract", STORE, folder, f"slow/{name}").returncode, 0)
            self.assertIn("calls.csv", os.listdir(os.path.join(folder, "slow", name)))
            self.assertEqual(run("--extract", STORE, folder, "../../slow").returncode, 0)
            self.assertEqual(len(os.listdir(os.path.join(folder, "slow"))), len(listing("slow", STORE)))

    def test_extract_does_not_follow_links_out_of_its_folder(self):
        with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as outside:
            os.symlink(outside, os.path.join(folder, "contexts"))
            done = run("--extract", SOURCE, folder)
            self.assertEqual(done.returncode, 1)
            self.assertEqual(os.listdir(outside), [])

    def test_extract_replaces_files_and_waits_for_nothing_else(self):
        with tempfile.TemporaryDirectory() as folder:
            os.mkfifo(os.path.join(folder, "metrics.csv"))
            os.mkdir(os.path.join(folder, "README.txt"))
            old = os.path.join(folder, "info.json")
            with open(old, "wb") as f:
                f.write(b"x" * 100000)
            os.link(old, os.path.join(folder, "kept"))
            done = run("--extract", SOURCE, folder, "info.json", "metrics.csv", "README.txt")
            self.assertEqual(done.returncode, 1)
            self.assertEqual(done.stderr, b"metrics.csv: cannot be created: File exists\n"
                                          b"README.txt: cannot be created: File exists\n")
            with open(old, "rb") as f:
                self.assertEqual(f.read(), run("--cat", SOURCE, "info.json").stdout)
            self.assertEqual(os.path.getsize(os.path.join(folder, "kept")), 100000)

    def test_extract_writes_no_more_than_its_budget(self):
        with tempfile.TemporaryDirectory() as folder:
            deep = os.path.join(folder, "nytprof.out")
            with open(deep, "wb") as f:
                f.write(profile_of(*((depth, f"f{depth % 7}") for depth in range(300, 0, -1))))
            out = os.path.join(folder, "out")
            done = run("-o", "max=8M", "--extract", deep, out)
            self.assertEqual(done.returncode, 1)
            first, *others = done.stderr.decode().splitlines()
            self.assertRegex(first, r"^contexts/.*: left out, with all that follows it: more than 8388608 bytes would "
                                    r"be written \(-o max=SIZE\)$")
            self.assertEqual(others, ["by-id: left out"])
            self.assertEqual(sorted(os.listdir(out)), sorted(n.rstrip("/") for n in listing("", deep) if n != "by-id/"))
            paths = [os.path.join(d, n) for d, folders, names in os.walk(out) for n in folders + names]
            taken = sum(4096 if os.path.isdir(p) else os.path.getsize(p) // 4096 * 4096 + 4096 for p in paths)
            self.assertLessEqual(taken, 8 << 20)
            self.assertGreater(taken, 4 << 20)
            done = run("-o", "max=1k", "--extract", deep, os.path.join(folder, "two"), "info.json", "summary.txt")
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr.decode(), r"^info.json: left out, .*\nsummary.txt: left out\n$")
            three = os.path.join(folder, "three")
            done = run("-o", "max=1M", "--extract", deep, three, "contexts", "summary.txt", "by-id")
            self.assertRegex(done.stderr.decode(), r"^contexts/.*: left out, .*\nby-id: left out\n$")
            self.assertEqual(sorted(os.listdir(three)), ["contexts", "summary.txt"])
            self.assertEqual(run("-o", "max=1G", "--extract", deep, os.path.join(folder, "all")).returncode, 0)

    def test_extract_keeps_nothing_that_it_has_written(self):
        # Sanitizers would keep what is freed.
        env = {**os.environ, "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=1"}
        with tempfile.TemporaryDirectory() as folder:
            deep = os.path.join(folder, "nytprof.out")
            with open(deep, "wb") as f:
                f.write(profile_of(*((depth, f"f{depth % 7}") for depth in range(1000, 0, -1))))
            peaks = []
            for most in ("4M", "64M"):
                with subprocess.Popen([PROFMOUNT, "-o", "max=" + most, "--extract", deep, os.path.join(folder, most)],
                                      stderr=subprocess.DEVNULL, env=env) as server:
                    peaks.append(os.wait4(server.pid, 0)[2].ru_maxrss)
                    server.returncode = 0  # of the budget; what matters is the memory
            self.assertLess(peaks[1] - peaks[0], 20 << 10, peaks)

    def test_data_of_large_chunks_is_never_whole_in_memory(self):
        env = {**os.environ, "ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=1"}
        with tempfile.TemporaryDirectory() as folder:
            peaks = []
            for size in (2 << 20, 34 << 20):
                store, out = os.path.join(folder, str(size)), os.path.join(folder, f"out{size}")
                os.mkdir(store)
                with open(os.path.join(store, "traces.dat"), "wb") as f:
                    f.write(b"ZTS0" + bytes(12) + b"ZCH0" + struct.pack(">III", size, size, 0) + bytes(size))
                chunk = "stores/000000/chunks/0"
                with subprocess.Popen([PROFMOUNT, "--extract", store, out, chunk], env=env) as server:
                    peaks.append(os.wait4(server.pid, 0)[2].ru_maxrss)
                    server.returncode = 0
                with open(os.path.join(out, chunk, "data.json"), "rb") as f:
                    self.assertTrue(f.read() == b"[" + b"0," * (size - 1) + b"0]\n")
                with open(os.path.join(out, chunk, "data.cbor"), "rb") as f:
                    self.assertTrue(f.read() == bytes(size))
                self.assertTrue(run("--cat", store, f"{chunk}/data.cbor").stdout == bytes(size))
            # The file as it is mapped, the chunk twice (once to sum up its calls), but not the 66 MB of JSON that it becomes.
            self.assertLess(peaks[1] - peaks[0], 105 << 10, peaks)
            done = run("-o", "max=8M", "--extract", store, os.path.join(folder, "some"), chunk)
            self.assertRegex(done.stderr.decode(), r"^stores/000000/chunks/0/data.json: left out, .*\n$")
            self.assertEqual(os.listdir(os.path.join(folder, "some", chunk)), [])

    def test_nothing_that_a_terminal_obeys_is_printed(self):
        with tempfile.TemporaryDirectory() as folder:
            for number in "123":
                with open(os.path.join(folder, f"a{HOSTILE}.{number}"), "wb") as f:
                    f.write(profile_of((1, HOSTILE), (1, "main::x"), files=[f"/{HOSTILE}.pl"])[:60 if number == "3" else None])
            done = run("--check", folder)
            self.assertEqual(done.returncode, 1)
            self.assertIn("]0;title", done.stdout.decode())
            self.assertTrue(is_safe(done.stdout.decode()), done.stdout)
            out = os.path.join(folder, "out")
            self.assertEqual(run("--extract", folder, out).returncode, 0)
            names = [n for _, folders, files in os.walk(out) for n in folders + files]
            self.assertTrue(any("gpj.exe" in name for name in names))
            self.assertEqual([name for name in names if not is_safe(name)], [])
            for name in ("summary.txt", "README.txt"):
                self.assertTrue(is_safe(run("--cat", folder, name).stdout.decode()), name)
            done = run("--cat", folder, f"no{HOSTILE}")
            self.assertTrue(is_safe(done.stderr.decode()), done.stderr)

    def test_a_refused_source_is_named_once(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("plain", HOSTILE, "x" * 255):
                path = os.path.join(folder, name)
                with open(path, "wb"):
                    pass
                done = run("--ls", path)
                self.assertEqual(done.returncode, 1)
                self.assertRegex(done.stderr.decode(), r"^profmount: /[^:]*: is empty: [^\n]*\n$")

    def test_files_of_other_tools_are_named(self):
        """What people take for a profile: what it is, and what converts it."""
        with tempfile.TemporaryDirectory() as folder:
            for name, begins, said in (("cpu.prof", struct.pack("<5Q", 0, 3, 0, 10000, 0), "google-pprof --proto"),
                                       ("heap.txt", b"heap profile: 1: 2 [3: 4] @ heap/1\n", "go tool pprof -proto"),
                                       ("raw.txt", b"PeriodType: cpu nanoseconds\nPeriod: 10000000\n", "-proto"),
                                       ("trace.out", b"go 1.22 trace\0\0\0", "go tool trace -pprof="),
                                       ("app.jfr", b"FLR\0\0\2\0\1", "jfrconv"),
                                       ("isolate-1-v8.log", b"v8-version,11,3\n", "node --cpu-prof"),
                                       ("profile.json.gz", gzip.compress(b'{"meta":{"version":27}}'), "Firefox Profiler"),
                                       ("gmon.out", b"gmon\1\0\0\0", "perf"),
                                       ("trace.txt", b"# tracer: nop\n#\n", "perf script"),
                                       ("bpftrace.txt", b"Attaching 1 probe...\n\n@[\n", "stackcollapse-bpftrace.pl"),
                                       ("a-0001451.mm_profdata", b"MMPD\t\0\0\0\0H", "crox"),
                                       ("massif.out.1", b"desc: (none)\ncmd: ./a\n", "massif"),
                                       ("app.pftrace", b"\x0a\x04\x18\x01\x40\x02", "traceconv json"),
                                       ("perfetto", b"\x0a\x05\x08\x01\x10\x02\x18", "traceconv json"),
                                       ("app.hprof", b"JAVA PROFILE 1.0.2\0", "heap dump")):
                with self.subTest(name=name):
                    path = os.path.join(folder, name)
                    with open(path, "wb") as file:
                        file.write(begins)
                    done = run("--ls", path)
                    self.assertEqual((done.returncode, done.stdout), (1, b""))
                    self.assertRegex(done.stderr.decode(), rf"^profmount: {re.escape(path)}(\+0x0)?: (is|are) .*{re.escape(said)}.*\n$")

    def test_a_folder_without_sources_is_named_as_it_was_given(self):
        with tempfile.TemporaryDirectory() as folder:
            for given in (folder, folder + "/"):
                self.assertRegex(run("--check", given).stderr.decode(), f"^profmount: {given}: [^/\n]*\n$")

    def test_check_says_sound(self):
        done = run("--check", SOURCE)
        self.assertEqual((done.returncode, done.stdout.decode(), done.stderr), (0, f"{SOURCE}: sound\n", b""))

    def test_check_names_the_source_for_damage_of_no_single_file(self):
        with tempfile.TemporaryDirectory() as store:
            with open(os.path.join(store, "traces.dat"), "wb") as f:
                f.write(b"ZTS0" + bytes(12) + b"ZCH0" + struct.pack(">III", 2, 2, 0) + b"\x9f\xff")
            done = run("--check", store)
            self.assertEqual(done.returncode, 1)
            self.assertIn(f"{store}: the store has no text index", done.stdout.decode())

    def test_an_unknown_format_is_refused_by_name(self):
        done = run("-o", "format=nosuch", "--ls", SOURCE)
        self.assertEqual(done.returncode, 1)
        self.assertIn(b"nosuch", done.stderr)

    def test_a_full_disk_is_an_error(self):
        with open("/dev/full", "wb") as full:
            for command in (["--cat", SOURCE, "contexts.csv"], ["--ls", SOURCE], ["--ls", SOURCE, "info.json"],
                            ["--formats"], ["--help"]):
                done = subprocess.run([PROFMOUNT, *command], stdout=full, stderr=subprocess.PIPE)
                self.assertEqual(done.returncode, 1, command)
                self.assertIn(b"No space left", done.stderr, command)

    def test_a_full_disk_is_an_error_of_check_too(self):
        with tempfile.TemporaryDirectory() as folder, open("/dev/full", "wb") as full:
            damaged = os.path.join(folder, "nytprof.out")
            with open(damaged, "wb") as f:
                f.write(b"NYTProf 5 0\n!ticks_per_sec=10000000\n!nv_size=8\nP")
            self.assertEqual(run("--check", damaged).returncode, 1)
            done = subprocess.run([PROFMOUNT, "--check", damaged], stdout=full, stderr=subprocess.PIPE)
            self.assertEqual(done.returncode, 1)
            self.assertIn(b"No space left", done.stderr)

    def test_a_closed_output_is_an_error(self):
        for command in ("--cat '{}' contexts.csv", "--ls '{}'", "--formats", "--help"):
            done = subprocess.run(["sh", "-c", f"exec '{PROFMOUNT}' {command.format(SOURCE)} >&-"], stderr=subprocess.PIPE)
            self.assertEqual(done.returncode, 1, command)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
