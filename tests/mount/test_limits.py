#!/usr/bin/env python3
"""Oversized sources: a clear message or a correct view, within bounded memory and time.

    test_limits.py PROFMOUNT SOURCE CONFINEMENT MAKE_EXTREME SOURCES

SOURCES is the folder of small sources that tests/sources makes.
"""
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
import zlib

from mounts import error_of, main, run, served, slurp

MAKE_EXTREME, SOURCES = (os.path.abspath(p) for p in sys.argv[4:6])
MB = 1 << 20
MOST_WORK = 60  # seconds of processors, of which each takes one or two: what is quadratic takes hours
NYTPROF = b"NYTProf 5 0\n:ticks_per_sec=10000000\n:nv_size=8\nP\x01\x01" + struct.pack("<d", 1.7e9)
LONGEST = b"\xff\xff\xff\xff"
SANITIZED = b"__asan_" in slurp(sys.argv[1]) or b"__tsan_" in slurp(sys.argv[1])


def seconds_of_work(process):
    with open(f"/proc/{process.pid}/stat", encoding="utf-8") as f:
        user, system = f.read().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")


def most_memory(process):
    with open(f"/proc/{process.pid}/status", encoding="utf-8") as f:
        return int(re.search(r"^VmHWM:\s*(\d+) kB$", f.read(), re.M).group(1)) << 10


class Limits(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="profmount-test-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def write(self, name, data):
        path = os.path.join(self.folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as f:
            f.write(data)
        return path

    def extreme(self, kind, n):
        path = os.path.join(self.folder, kind)
        subprocess.run([MAKE_EXTREME, path, kind, str(n)], check=True)
        return path

    def check_bounds(self, process, most):
        self.assertIsNone(process.poll())
        if not SANITIZED:
            self.assertLess(most_memory(process), most)
            self.assertLess(seconds_of_work(process), MOST_WORK)

    def check_survives(self, source, most=100 * MB):
        """Mounts, or is refused with one line; returns damage.csv of the mount, or that line."""
        done = run("--check", source)
        if done.returncode == 2:
            self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
            return done.stderr
        with served(source=source) as (point, process):
            for name in os.listdir(point):
                if os.path.isfile(os.path.join(point, name)):
                    slurp(os.path.join(point, name))
            self.check_bounds(process, most)
            return slurp(os.path.join(point, "damage.csv"))

    def test_a_directory_of_100000_children(self):
        n = 100000
        with served(source=self.extreme("wide", n)) as (point, process):
            top = os.path.join(point, "contexts")
            top = os.path.join(top, os.listdir(top)[0])
            names = [name for name in os.listdir(top) if os.path.isdir(os.path.join(top, name))]
            names.remove("metrics")
            self.assertEqual(len(names), n)
            self.assertEqual(len(set(names)), n)
            with os.popen(f"ls -f '{top}' | wc -l") as f:
                self.assertEqual(int(f.read()), len(os.listdir(top)) + 2)
            for name in names[::997]:
                with os.scandir(os.path.join(top, name)) as entries:
                    self.assertIn("info.txt", {e.name for e in entries})
                self.assertNotEqual(error_of(os.lstat, os.path.join(top, name + "~2")), 0)
            self.assertEqual(slurp(os.path.join(point, "contexts.csv")).count(b"\n"), n + 2)
            self.check_bounds(process, 400 * MB)

    def test_a_tree_of_a_million_levels(self):
        n = 1000000
        with served(source=self.extreme("deep", n)) as (point, process):
            self.assertEqual(slurp(os.path.join(point, "contexts.csv")).count(b"\n"), n + 1)
            path = "contexts"
            for _ in range(50):
                names = os.listdir(os.path.join(point, path))
                path = os.path.join(path, next(n for n in names if n != "metrics" and "." not in n))
            last = slurp(os.path.join(point, "contexts.csv")).splitlines()[-1]
            deepest = os.path.join(point, "by-id", last.split(b",")[0].decode())
            self.assertIn(b"path depth: 999999\n", slurp(os.path.join(deepest, "info.txt")))
            self.check_bounds(process, 1000 * MB)

    def test_a_chunk_that_unpacks_to_more_than_is_taken(self):
        packer = zlib.compressobj(9, zlib.DEFLATED, -15)
        data = b"".join(packer.compress(bytes(MB)) for _ in range(300)) + packer.flush()
        for claimed in (300 * MB, 0xffffffff, 50 * MB):
            chunk = b"ZCH0" + struct.pack(">III", len(data), claimed, 0) + data
            store = self.write("store/traces.dat", b"ZTS0" + struct.pack(">I", 1) + bytes(8) + chunk)
            said = self.check_survives(os.path.dirname(store), 600 * MB)
            if claimed > 256 * MB:
                self.assertIn(b"claims more bytes than its compression can produce", said)

    def test_a_payload_with_a_text_of_4_gib(self):
        data = b"\x7b" + struct.pack(">Q", 1 << 32) + b"abc"
        chunk = b"ZCH0" + struct.pack(">III", len(data), len(data), 0) + data
        store = self.write("store/traces.dat", b"ZTS0" + struct.pack(">I", 0) + bytes(8) + chunk)
        self.assertIn(b"traces.dat", self.check_survives(os.path.dirname(store)))

    def test_a_profile_that_unpacks_a_thousandfold(self):
        packer = zlib.compressobj(9)
        data = b"".join(packer.compress(b"+\x00\x01\x01" * (MB // 4)) for _ in range(100)) + packer.flush()
        path = self.write("nytprof.out", NYTPROF.replace(b"P\x01", b"z" + data, 1)[:-9])
        self.check_survives(path)

    def test_a_name_of_4_gib_in_a_profile(self):
        path = self.write("nytprof.out", NYTPROF + b"s\x01'\xff" + LONGEST + b"abc")
        self.assertIn(b"nytprof.out", self.check_survives(path))
        packed = NYTPROF.replace(b"P\x01", b"z" + zlib.compress(NYTPROF[NYTPROF.index(b"P\x01"):] + b"s\x01'\xff" + LONGEST), 1)
        self.assertIn(b"nytprof.out", self.check_survives(self.write("nytprof.out", packed)))

    def test_a_name_of_4_gib_in_a_measurement(self):
        data = bytearray(slurp(os.path.join(SOURCES, "0400.hpcrun")))
        data[28:32] = LONGEST  # of the first name of the header
        self.assertIn(b"a.hpcrun", self.check_survives(self.write("a.hpcrun", data)))

    def test_fields_of_4_gib_in_a_stream(self):
        whole = slurp(os.path.join(SOURCES, "new.htdump"))
        for match in list(re.finditer(struct.pack("<Q", 8), whole)):
            data = bytearray(whole)
            data[match.start():match.end()] = struct.pack("<Q", 1 << 32)
            self.check_survives(self.write("stream.htdump", data))

    def test_strings_of_a_database_that_lead_nowhere(self):
        whole = os.path.join(SOURCES, "hpctoolkit")
        copy = os.path.join(self.folder, "database")
        shutil.copytree(whole, copy)
        data = bytearray(slurp(os.path.join(whole, "meta.db")))
        for at in range(0x10, 0xb0, 8):
            changed = data[:at] + struct.pack("<Q", 1 << 32) + data[at + 8:]
            self.write("database/meta.db", changed)
            self.check_survives(copy)


class ManyRuns(Limits):
    def mapped(self, process):
        """The number of open sources: each is a mapped file."""
        with open(f"/proc/{process.pid}/maps", encoding="utf-8") as f:
            return len({line.split()[-1] for line in f if line.rstrip().endswith(".htdump")})

    def test_runs_whose_windows_were_found_are_closed(self):
        whole = slurp(os.path.join(SOURCES, "new.htdump"))
        for k in range(80):
            self.write(f"runs/{k:03}.htdump", whole)
        want = run("--cat", os.path.join(self.folder, "runs/000.htdump"), "windows/0-1us/functions.csv").stdout
        self.assertIn(b"\n", want)
        with served("-o", "cache=1M", source=os.path.join(self.folder, "runs")) as (point, process):
            runs = [os.path.join(point, "runs", name) for name in os.listdir(os.path.join(point, "runs")) if name.startswith("run=")]
            self.assertEqual(len(runs), 80)
            windows = [os.open(os.path.join(path, "windows/0-1us"), os.O_RDONLY) for path in runs]
            self.assertLess(self.mapped(process), 40)
            for window in windows:  # the number of a window outlives its run
                file = os.open("functions.csv", os.O_RDONLY, dir_fd=window)
                self.assertEqual(os.read(file, 1 << 20), want)
                os.close(file)
                os.close(window)
            self.assertLess(self.mapped(process), 40)

    def test_names_of_windows_never_run_out(self):
        """More names than the kernel is left to keep; windows in use stay what they are, and new ones are right."""
        source = os.path.join(SOURCES, "new.htdump")
        self.write("runs/a.htdump", slurp(source))
        self.write("runs/b.htdump", slurp(source))
        for path, inside in ((source, "windows"), (os.path.join(self.folder, "runs"), "runs/run=a.htdump/windows")):
            with served(source=path) as (point, process):
                folder = os.path.join(point, inside)
                held = os.open(os.path.join(folder, "0-1us"), os.O_RDONLY)
                want = run("--cat", source, "windows/0-1us/functions.csv").stdout
                for i in range(1, 6001):
                    os.lstat(os.path.join(folder, f"{i}ns-{i + 1}ns"))
                for i in (1, 3000, 6000):
                    name = f"{i}ns-{i + 1}ns"
                    self.assertEqual(slurp(os.path.join(folder, name, "functions.csv")),
                                     run("--cat", source, f"windows/{name}/functions.csv").stdout)
                file = os.open("functions.csv", os.O_RDONLY, dir_fd=held)
                self.assertEqual(os.read(file, 1 << 20), want)
                os.close(file)
                os.close(held)
                self.assertIsNone(process.poll())


if __name__ == "__main__":
    main()
