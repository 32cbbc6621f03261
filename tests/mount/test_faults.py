#!/usr/bin/env python3
"""Read errors of the underlying file system: the original bytes, EIO or damage, never other bytes.

    test_faults.py PROFMOUNT SOURCE CONFINEMENT MAKERS BROKEN_FS

SOURCE is not used: sources of each format are made by MAKERS, the folder of tests/bench, and served by BROKEN_FS.
"""
import errno
import itertools
import os
import subprocess
import tempfile
import unittest

import sources
from below import MAKERS, below
from mounts import SECONDS, error_of, is_mounted, main, mounted, run, served, slurp, walk

MOST_PATHS = 150  # looked at, of a mount


def read(path):
    """The bytes of a file, the names in a directory, None for EIO, or False where there is nothing."""
    try:
        return sorted(os.listdir(path)) if os.path.isdir(path) else slurp(path)
    except OSError as e:
        if e.errno not in (errno.EIO, errno.ENOENT):
            raise
        return None if e.errno == errno.EIO else False


class ReadErrors(unittest.TestCase):
    def check_everything(self, point, reference):
        """What is readable is correct, or damage.csv lists what is missing. The numbers of files read and not read."""
        good = lost = 0
        paths = [reference, *itertools.islice(walk(reference), 10 * MOST_PATHS)]
        for path in paths[::len(paths) // MOST_PATHS + 1]:
            name = os.path.relpath(path, reference)
            if os.path.islink(path) or name == "damage.csv":
                continue
            got = read(os.path.join(point, name))
            if got is None:
                lost += 1
            else:
                good += 1
                if isinstance(got, bytes):
                    got = got.replace(b"/point/", b"/whole/")  # documents name their source
                if got != read(path):  # then it says so
                    self.assertRegex(read(os.path.join(point, "damage.csv")),
                                     b"cannot be (read: Input/output error|opened: Stale file handle)", name)
        return good, lost

    def check(self, name, pages_of):
        with below(name) as source, mounted(source=source.whole) as reference, \
                served(source=source.path) as (point, process):
            source.break_pages(pages_of)
            good, lost = self.check_everything(point, reference)
            self.assertIsNone(process.poll())
            self.assertEqual(error_of(os.statvfs, point), 0)
            self.assertGreater(good + lost, 10)
            subprocess.run(["fusermount3", "-u", point], check=True)
            self.assertEqual(process.wait(SECONDS), 0)

    def test_pages_that_break_after_mounting(self):
        for name in sources.MAKERS:
            for what, pages_of in (("first", lambda n: (0, 1)), ("middle", lambda n: (n // 2, n // 2 + 1)),
                                   ("last", lambda n: (n - 1, n)), ("all", lambda n: (0, n))):
                with self.subTest(source=name, pages=what):
                    self.check(name, pages_of)

    def test_files_that_go_stale_are_read_errors(self):
        # ESTALE would be of handles to files of the mount; `read` lets nothing pass but EIO.
        for name in sources.MAKERS:
            with self.subTest(source=name), below(name) as source, mounted(source=source.whole) as reference, \
                    mounted(source=source.path) as point:
                source.forget_files()
                good, lost = self.check_everything(point, reference)
                self.assertGreater(good + lost, 10)

    def test_a_stale_file_that_is_passed_through_is_a_read_error(self):
        with below("hpctoolkit") as source:
            os.mkdir(os.path.join(source.whole, "metrics"))
            with open(os.path.join(source.whole, "metrics", "m.yaml"), "wb") as f:
                f.write(b"version: 1\n")
            source.files.append("database/metrics/m.yaml")
            with mounted(source=source.path) as point:
                path = os.path.join(point, "raw", "metrics", "m.yaml")
                os.stat(path)  # its size is known now, and it is opened again to be read
                source.forget_files()
                self.assertEqual(error_of(slurp, path), errno.EIO)

    def test_first_pages_that_are_broken_before(self):
        for name in sources.MAKERS:
            with self.subTest(source=name), below(name) as source, tempfile.TemporaryDirectory() as point:
                source.break_pages(lambda n: (0, 1))
                done = run(source.path, point)
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
                self.assertRegex(done.stderr, b"(cannot|can) be read|no readable")
                self.assertFalse(is_mounted(point))

    def test_other_pages_that_are_broken_before(self):
        for name in sources.MAKERS:
            with self.subTest(source=name), below(name) as source, mounted(source=source.whole) as reference, \
                    tempfile.TemporaryDirectory(prefix="profmount-test-") as point:
                source.break_pages(lambda n: (n // 2, n // 2 + 1) if n > 2 else (n, n))
                done = run(source.path, point)
                if done.returncode != 0:
                    self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
                    continue
                try:
                    self.check_everything(point, reference)
                finally:
                    subprocess.run(["fusermount3", "-u", "-z", point], check=True)


if __name__ == "__main__":
    main()
