#!/usr/bin/env python3
"""The source changes under the mount."""
import errno
import os
import shutil
import tempfile
import unittest

from mounts import SOURCE, error_of, main, mounted, run, slurp, walk


class Changes(unittest.TestCase):
    """The source changes under the mount: old bytes or EIO, and the process lives."""

    def check(self, change):
        with tempfile.TemporaryDirectory() as folder:
            copy = os.path.join(folder, "source")
            (shutil.copytree if os.path.isdir(SOURCE) else shutil.copy2)(SOURCE, copy)
            names = ("contexts.csv", "functions.csv", "threads.csv", "metrics.csv", "info.json")
            want = {n: run("--cat", copy, n).stdout for n in names}
            with mounted(source=copy) as point:
                for path in ([copy] if os.path.isfile(copy) else list(walk(copy))):
                    if os.path.isfile(path):
                        change(path)
                for name in names:
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
        self.check(os.unlink)

    def test_replaced(self):
        def replace(path):
            with open(path + ".new", "wb") as f:
                f.write(b"other bytes" * 1000)
            os.rename(path + ".new", path)
        self.check(replace)


if __name__ == "__main__":
    main()
