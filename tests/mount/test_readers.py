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
from mounts import SECONDS, SOURCE, main, run, served, slurp, walk

MAKERS = os.path.abspath(sys.argv[4])
DURATION = float(os.environ.get("READERS_SECONDS", "2"))
READERS, MOST_FILES = 64, 300


class Readers(unittest.TestCase):
    maxDiff = None  # a report of the sanitizer is long

    def read(self, source):
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
        with served("-o", "cache=1M", source=source) as (point, process):
            paths = itertools.islice(walk(point), 10 * MOST_FILES)
            files = [p for p in paths if stat.S_ISREG(os.lstat(p).st_mode)]
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
                self.assertEqual(run("--cat", source, os.path.relpath(path, point)).stdout, slurp(path), path)
            subprocess.run(["fusermount3", "-u", point], check=True)
            process.wait(SECONDS)
            self.assertEqual((process.returncode, process.stderr.read().decode()), (0, ""))

    def test_many_readers_of_the_sample(self):
        self.read(SOURCE)

    def test_many_readers_of_each_format(self):
        for name in sources.MAKERS:
            with self.subTest(source=name), tempfile.TemporaryDirectory(prefix="profmount-test-") as folder:
                self.read(sources.make(MAKERS, name, folder))


if __name__ == "__main__":
    main()
