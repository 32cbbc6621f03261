#!/usr/bin/env python3
"""A source that grows while it is mounted is served as it was; one that is rewritten gives the old contents or EIO.

    test_growth.py PROFMOUNT SOURCE CONFINEMENT MAKERS
"""
import errno
import os
import shutil
import sys
import tempfile
import time
import unittest

import sources
from mounts import is_mounted, main, mounted, run, slurp

MAKERS = sys.argv[4]
sources.MAKERS["perf"] = ("make_recording", ["perf.data", "perf", 6])  # half of it is read in the background
NAMES = ("README.txt", "summary.txt", "info.json", "contexts.csv", "functions.csv", "metrics.csv", "damage.csv", "hotpath.txt")
# What else is read of each format; and the file that grows, in a folder.
RAW = {"hpcrun": ("threads.csv", "imbalance.csv", "export/trace.json"), "htdump": ("raw/events.csv", "labels.csv"),
       "perf": ("threads.csv", "raw/maps.csv", "threads/process=100/thread=100/trace.csv"),
       "nytprof": ("raw/lines.csv", "raw/subs.csv"), "nytprof deflated": ("raw/lines.csv",),
       "zts": ("traces.csv", "methods.csv", "raw/spans.csv")}
FILES = {"hpcrun": "made-000000-001-007f0101-4242-0.hpctrace", "zts": "traces.dat"}
TICK = 0.02  # the clock that stamps files may be as coarse as that


class Growing:
    """A source cut to half of what it will be, and that other half."""

    def __init__(self, folder, name):
        self.path = sources.make(MAKERS, name, folder)
        self.file = os.path.join(self.path, FILES[name]) if name in FILES else self.path
        self.names = NAMES + RAW[name]
        data = slurp(self.file)
        self.first, self.rest = data[:len(data) // 2], data[len(data) // 2:]
        self.write()
        # What a copy made now would give.
        self.want = {n: run("--cat", self.path, n).stdout for n in self.names}

    def write(self):
        with open(self.file, "wb") as f:
            f.write(self.first)
        time.sleep(TICK)

    def grow(self):
        with open(self.file, "ab") as f:
            f.write(self.rest)

    def rewrite(self):
        """Flips some bits and restores the modification time."""
        was = os.stat(self.file)
        with open(self.file, "r+b") as f:
            for at in range(len(self.first) // 4, len(self.first), len(self.first) // 8):
                f.seek(at)
                f.write(bytes([self.first[at] ^ 1]))
        os.utime(self.file, ns=(was.st_atime_ns, was.st_mtime_ns))

    def replace_contents(self):
        """Like a program that is started again and writes more than before."""
        with open(self.file, "r+b") as f:
            f.write(bytes(byte ^ 1 for byte in self.first))


class Growth(unittest.TestCase):
    def each(self, names=RAW):
        for name in names:
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                yield Growing(folder, name)

    def check(self, point, g, names, refused):
        for name in names:
            path = os.path.join(point, name)
            try:
                self.assertEqual(slurp(path), g.want[name], name)
            except OSError as e:
                self.assertTrue(refused and e.errno == errno.EIO, f"{name}: {e}")

    def test_grown_source_is_what_it_was(self):
        for g in self.each():
            for early in (0, len(g.names) // 2, len(g.names)):
                with mounted("-o", "cache=4k", source=g.path) as point:
                    self.check(point, g, g.names[:early], False)
                    g.grow()
                    self.check(point, g, g.names, False)
                g.write()

    def test_source_that_grows_all_the_time_is_what_it_was(self):
        for g in self.each():
            with mounted("-o", "cache=4k", source=g.path) as point:
                for i, name in enumerate(g.names):
                    with open(g.file, "ab") as f:
                        f.write(g.rest[i:i + 1])
                    self.check(point, g, [name], False)

    def test_rewritten_source_gives_old_bytes_or_none(self):
        for g in self.each():
            for early in (0, len(g.names) // 2):
                with mounted("-o", "cache=4k", source=g.path) as point:
                    self.check(point, g, g.names[:early], False)
                    g.rewrite()
                    self.check(point, g, g.names, True)
                g.write()

    def test_grown_and_rewritten_source_gives_old_bytes_or_none(self):
        for g in self.each():
            with mounted("-o", "cache=4k", source=g.path) as point:
                self.check(point, g, g.names[:2], False)
                g.grow()
                g.rewrite()
                self.check(point, g, g.names, True)
            g.write()

    def test_source_with_other_contents_gives_old_bytes_or_none(self):
        for g in self.each(set(RAW) - {"hpcrun"}):  # no run writes into the files of another
            with mounted("-o", "cache=4k", source=g.path) as point:  # nothing of it was read
                g.grow()
                g.replace_contents()
                self.check(point, g, g.names, True)
            g.write()

    def test_truncated_and_replaced_sources_give_old_bytes_or_none(self):
        def replace(path):
            shutil.copy2(path, path + ".new")
            os.rename(path + ".new", path)
        for g in self.each():
            for spoil in (lambda p: os.truncate(p, 100), os.unlink, replace):
                with mounted("-o", "cache=4k", source=g.path) as point:
                    self.check(point, g, g.names[:2], False)
                    spoil(g.file)
                    self.check(point, g, g.names, True)
                    self.assertTrue(is_mounted(point))
                g.write()


if __name__ == "__main__":
    main()
