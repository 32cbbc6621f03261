#!/usr/bin/env python3
"""Many readers at once, of a source of each format and of the sample: meant for a build with the thread sanitizer.

    test_readers.py PROFMOUNT SOURCE CONFINEMENT MAKERS

READERS_SECONDS in the environment says for how long each source is read; 2 by default.
"""
import itertools
import os
import random
import stat
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import sources
from mounts import SECONDS, SOURCE, main, run, served, slurp

MAKERS = os.path.abspath(sys.argv[4])
DURATION = float(os.environ.get("READERS_SECONDS", "2"))
READERS, MOST_FILES = 64, 300
TWO = "nytprof", "htdump"  # runs in one mount


def some_of(top):
    """Files of all kinds, but only some folders of wide and of deep trees."""
    for folder, folders, files in os.walk(top):
        depth = os.path.relpath(folder, top).count("/")
        del folders[0 if depth >= 4 else 3 if len(folders) > 20 or depth >= 3 else 20:]
        paths = [os.path.join(folder, name) for name in files]
        yield from (path for path in paths if stat.S_ISREG(os.lstat(path).st_mode))


def found_by_name(files):
    """Files that are not listed: windows of the run and of threads, and Parquet tables."""
    folders = [os.path.dirname(path) for path in files if path.endswith("windows/README.txt")][:4]
    windows = [os.path.join(folder, name) for folder in folders for name in ("1ns-", "-1us", "1us-1ms")]
    windows = [os.path.realpath(window) for window in windows if os.path.lexists(window)]
    found = [path for window in windows for path in itertools.islice(some_of(window), MOST_FILES // 6)]
    tables = [path for path in files + found if path.endswith(".csv")]
    return found + [path[:-len("csv")] + "parquet" for path in tables[::1 + len(tables) // MOST_FILES]]


class Readers(unittest.TestCase):
    maxDiff = None  # a report of the sanitizer is long

    def read(self, *words):
        wrong, n_read = [], []

        def read_some(files, chance):
            n = 0
            while time.time() < until and not wrong:
                path = chance.choice(files)
                with open(path, "rb", buffering=0) as f:
                    data = f.read()
                    os.posix_fadvise(f.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)  # the next reader asks again
                os.listdir(os.path.dirname(path))
                if known.setdefault(path, data) != data:
                    wrong.append(path)
                n += 1
            n_read.append(n)

        # A small cache, so that things are dropped and built again; all start while nothing is built.
        with served("-o", "cache=1M", *words[:-1], source=words[-1]) as (point, process):
            files = list(itertools.islice(some_of(point), 10 * MOST_FILES))
            files += found_by_name(files)
            random.Random(1).shuffle(files)
            del files[MOST_FILES:]
            known, until = {}, time.time() + DURATION
            readers = [threading.Thread(target=read_some, args=(files, random.Random(n))) for n in range(READERS)]
            for r in readers:
                r.start()
            for r in readers:
                r.join(DURATION + SECONDS)
            self.assertEqual(wrong, [])
            self.assertEqual(len(n_read), READERS)
            self.assertIsNone(process.poll())
            for path in random.Random(2).sample(files, 5):
                self.assertEqual(run("--cat", *words, "--", os.path.relpath(path, point)).stdout, slurp(path), path)
            subprocess.run(["fusermount3", "-u", point], check=True)
            process.wait(SECONDS)
            self.assertEqual((process.returncode, process.stderr.read().decode()), (0, ""))

    def test_many_readers_of_the_sample(self):
        self.read(SOURCE)

    def test_many_readers_of_each_format(self):
        for name in sources.MAKERS:
            with self.subTest(source=name), tempfile.TemporaryDirectory(prefix="profmount-test-") as folder:
                self.read(sources.make(MAKERS, name, folder))

    def test_many_readers_of_several_runs(self):
        with tempfile.TemporaryDirectory(prefix="profmount-test-") as folder:
            first, other = [sources.make(MAKERS, name, folder) for name in TWO]
            self.read(f"a={first}", f"b={other}", f"c={first}")


if __name__ == "__main__":
    main()
