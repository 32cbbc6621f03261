#!/usr/bin/env python3
"""What whoever runs mounts for others asks of them: .status, memory, idle mounts, lean ones, mounts over their sources.

    test_operator.py PROFMOUNT SOURCE CONFINEMENT MAKE_EXTREME SOURCES
"""
import errno
import os
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

from mounts import PROFMOUNT, SECONDS, error_of, is_mounted, main, run, served, slurp, wait_until

MAKE_EXTREME, SOURCES = (os.path.abspath(p) for p in sys.argv[4:6])
SANITIZED = b"__asan_" in slurp(sys.argv[1]) or b"__tsan_" in slurp(sys.argv[1])


def status_of(point):
    lines = slurp(os.path.join(point, ".status")).decode().splitlines()
    assert lines[0] == "key,value"
    return {key: int(value) for key, value in (line.split(",") for line in lines[1:])}


class Operator(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="profmount-test-")
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def test_status(self):
        with served("-o", "cache=16M") as (point, _):
            self.assertNotIn(".status", os.listdir(point))
            before = status_of(point)
            slurp(os.path.join(point, "summary.txt"))
            # For a moment the same state is shown, and whoever built the document is still on its way back.
            self.assertTrue(wait_until(lambda: status_of(point)["cache_bytes"] > before["cache_bytes"]))
            self.assertTrue(wait_until(lambda: status_of(point)["jobs_running"] == 0))
            after = status_of(point)
            self.assertEqual(after["cache_limit_bytes"], 16 << 20)
            self.assertGreater(after["memory_private_bytes"], 0)
            self.assertGreaterEqual(after["threads"], 2)
            self.assertEqual(after["readers_waiting"], 0)
            self.assertGreaterEqual(after["age_s"], before["age_s"])

    @unittest.skipIf(SANITIZED, "sanitizers take more memory than any limit")
    def test_what_needs_more_memory_fails_alone(self):
        path = os.path.join(self.folder, "many")
        subprocess.run([MAKE_EXTREME, path, "wide", "1000000"], check=True)
        with served("-o", "memory=128M", source=path) as (point, process):
            self.assertEqual(status_of(point)["memory_limit_bytes"], 128 << 20)
            self.assertEqual(error_of(slurp, os.path.join(point, "functions.csv")), errno.ENOMEM)
            self.assertRegex(process.stderr.readline(),
                             rb"^profmount: functions\.csv: (meta\.db: )?no memory within the limit of 128 MiB \(-o memory=SIZE\)( for .*)?\n$")
            self.assertIn("summary.txt", os.listdir(point))
            self.assertLess(status_of(point)["memory_private_bytes"], 128 << 20)
            self.assertIsNone(process.poll())

    def test_descriptors_are_not_memory(self):
        source = os.path.join(SOURCES, "hpcrun")
        done = subprocess.run(["sh", "-c", 'ulimit -n 6; exec "$0" --cat "$1" contexts.csv', PROFMOUNT, source],
                              capture_output=True, check=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(b"oo many open files", done.stderr)

    def test_many_runs_need_few_descriptors(self):
        for i in range(40):
            shutil.copytree(os.path.join(SOURCES, "hpctoolkit"), os.path.join(self.folder, f"job{i}"))
        done = subprocess.run(["sh", "-c", 'ulimit -n 128; exec "$0" --cat "$1" functions-wide.csv', PROFMOUNT, self.folder],
                              capture_output=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.splitlines()[0].count(b"job"), 40)

    def test_idle_mounts_leave(self):
        held = None
        while held is None:
            with served("-o", "idle=1s") as (point, process):
                try:
                    held = os.open(os.path.join(point, "summary.txt"), os.O_RDONLY)
                except OSError:  # a busy machine let a second pass before anybody used it
                    self.assertTrue(wait_until(lambda: process.poll() is not None))
                    self.assertEqual(process.returncode, 0)
                    continue
                time.sleep(2.5)
                self.assertIsNone(process.poll())  # in use
                self.assertTrue(os.read(held, 100))
                os.close(held)
                self.assertTrue(wait_until(lambda: process.poll() is not None))
                self.assertEqual(process.returncode, 0)
                self.assertFalse(is_mounted(point))

    def test_lean_mounts_have_no_directories_of_each(self):
        entries = set(run("-o", "lean", "--ls", sys.argv[2]).stdout.decode().split())
        self.assertTrue({"functions.csv", "export/", "threads/"} <= entries)
        self.assertFalse({"contexts/", "by-id/", "functions/"} & entries)
        self.assertNotIn(b"contexts/", run("-o", "lean", "--cat", sys.argv[2], "README.txt").stdout.split(b"recipes")[0][:2000])
        source = os.path.join(SOURCES, "new.htdump")
        both = [source, source, "--"]
        self.assertIn(b"functions/", run("--ls", *both, "runs/run=new.htdump/repetition=1").stdout)
        self.assertNotIn(b"functions/", run("-o", "lean", "--ls", *both, "runs/run=new.htdump/repetition=1").stdout)

    def test_runs_below_their_own_mount(self):
        for name in ("a", "b"):
            shutil.copy(os.path.join(SOURCES, "new.htdump"), os.path.join(self.folder, name + ".htdump"))
        want = run("--cat", os.path.join(self.folder, "a.htdump"), "functions.csv").stdout
        process = subprocess.Popen([PROFMOUNT, "-f", self.folder, self.folder], stderr=subprocess.PIPE)
        try:
            self.assertTrue(wait_until(lambda: is_mounted(self.folder) or process.poll() is not None))
            self.assertEqual(slurp(os.path.join(self.folder, "runs/run=a.htdump/functions.csv")), want)
            self.assertIn(b"a.htdump", slurp(os.path.join(self.folder, "runs.csv")))
            self.assertEqual(slurp(os.path.join(self.folder, "damage.csv")).count(b"\n"), 1)
        finally:
            subprocess.run([PROFMOUNT, "-u", self.folder], check=True)
            process.wait(SECONDS)
            process.stderr.close()

    def test_runs_that_vanish_are_damage(self):
        """Those that are open are shown, and said to be gone, like those that nobody has read."""
        for name in ("a", "b", "c"):
            shutil.copy(os.path.join(SOURCES, "new.htdump"), os.path.join(self.folder, name + ".htdump"))
        with served(source=self.folder) as (point, _):
            want = slurp(os.path.join(point, "runs/run=a.htdump/functions.csv"))
            slurp(os.path.join(point, "runs/run=b.htdump/functions.csv"))
            for name in ("a", "c"):
                os.remove(os.path.join(self.folder, name + ".htdump"))
            damage = slurp(os.path.join(point, "damage.csv")).decode().splitlines()
            self.assertEqual(sorted(row.split(",")[0] for row in damage[1:]), ["a.htdump", "c.htdump"])
            self.assertIn("is not there any more", "".join(damage))
            self.assertEqual(slurp(os.path.join(point, "runs/run=a.htdump/summary.txt")).count(b"damage"), 0)
            self.assertEqual(slurp(os.path.join(point, "runs/run=a.htdump/functions.csv")), want)

    def test_what_must_not_be_read_is_damage(self):
        """A file, and a link out of it, in place of a folder: root may read everything else."""
        measurement, database = os.path.join(self.folder, "m"), os.path.join(self.folder, "d")
        shutil.copytree(os.path.join(SOURCES, "hpcrun"), measurement)
        shutil.copytree(os.path.join(SOURCES, "hpctoolkit"), database)
        with open(os.path.join(measurement, "structs"), "w", encoding="utf-8"):
            pass
        shutil.rmtree(os.path.join(database, "metrics"))
        os.symlink("/", os.path.join(database, "metrics"))
        self.assertIn(b",structs,", run("--cat", measurement, "damage.csv").stdout)
        self.assertIn(b",metrics,", run("--cat", database, "damage.csv").stdout)


if __name__ == "__main__":
    main()
