#!/usr/bin/env python3
"""The source changes under the mount."""
import errno
import os
import shutil
import sys
import tempfile
import unittest

from mounts import error_of, main, mounted, run, slurp, walk


SOURCES = sorted(os.path.join(sys.argv[4], name) for name in os.listdir(sys.argv[4]))
NAMES = ("contexts.csv", "functions.csv", "threads.csv", "metrics.csv", "info.json")


def top(point):
    """The entries of the root and of export/, which several runs do not have."""
    export = os.path.join(point, "export")
    return [*os.listdir(point), *(os.path.join("export", name) for name in (os.listdir(export) if os.path.isdir(export) else ()))]


class Changes(unittest.TestCase):
    """The source changes under the mount: old bytes or EIO, all names remain, and the process survives."""

    def check(self, change, may_go=()):
        for source in SOURCES:
            if os.path.basename(source) == "builds":
                continue  # several runs, which are opened when they are needed
            with self.subTest(os.path.basename(source)), tempfile.TemporaryDirectory() as folder:
                self.check_source(source, os.path.join(folder, os.path.basename(source)), change, may_go)

    def check_source(self, source, copy, change, may_go):
        (shutil.copytree if os.path.isdir(source) else shutil.copy2)(source, copy)
        with mounted(source=copy) as point:
            names = top(point)
        want = {n: run("--cat", copy, n).stdout for n in NAMES if n in names}
        with mounted(source=copy) as point:
            for path in ([copy] if os.path.isfile(copy) else list(walk(copy))):
                if os.path.isfile(path):
                    change(path)
            for name in set(names) - set(may_go):
                self.assertIn(error_of(os.lstat, os.path.join(point, name)), (0, errno.EIO), name)
            for name in want:
                try:
                    self.assertEqual(slurp(os.path.join(point, name)), want[name], name)
                except OSError as e:
                    self.assertEqual(e.errno, errno.EIO, name)
            self.assertEqual(error_of(os.statvfs, point), 0)

    def test_truncated_to_half(self):
        self.check(lambda path: os.truncate(path, os.path.getsize(path) // 2))

    def test_truncated_to_nothing(self):
        self.check(lambda path: os.truncate(path, 0))

    def test_grown(self):
        def grow(path):
            with open(path, "ab") as f:
                f.write(b"more bytes" * 1000)
        self.check(grow)

    def test_removed(self):
        self.check(os.unlink, may_go=["source"])  # text is opened when it is needed

    def test_replaced(self):
        def replace(path):
            with open(path + ".new", "wb") as f:
                f.write(b"other bytes" * 1000)
            os.rename(path + ".new", path)
        self.check(replace, may_go=["source"])


if __name__ == "__main__":
    main()
