#!/usr/bin/env python3
"""Memory over many reads: a hundred thousand reads need no more than fifty thousand, a thousand filters no more than some."""
import os
import random
import stat
import unittest
import unittest.mock

from mounts import anonymous_bytes, main, served, walk


class Endurance(unittest.TestCase):
    def test_memory_stays_flat_over_reads_of_random_files(self):
        chance = random.Random(3)

        def read_some(files, n):
            for path in chance.choices(files, k=n):
                with open(path, "rb", buffering=0) as f:
                    os.pread(f.fileno(), 8192, chance.randrange(os.fstat(f.fileno()).st_size + 1))
                    os.posix_fadvise(f.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)  # the next reader asks again

        # A sanitizer that keeps what was freed would look like a leak.
        with unittest.mock.patch.dict(os.environ, ASAN_OPTIONS="quarantine_size_mb=0:thread_local_quarantine_size_kb=0"), \
                served("-o", "cache=1M") as (point, process):
            files = [p for p in walk(point) if stat.S_ISREG(os.lstat(p).st_mode)]
            measured = []
            for _ in range(10):
                read_some(files, 10000)
                measured.append(anonymous_bytes(process))
            # What threads happen to hold jumps by megabytes, up and down; a hundred bytes lost a read would be five of them.
            self.assertLess(min(measured[5:]), max(measured[:5]) + (4 << 20), measured)

    def test_filters_asked_for_in_turn_leave_nothing_behind(self):
        with unittest.mock.patch.dict(os.environ, ASAN_OPTIONS="quarantine_size_mb=0:thread_local_quarantine_size_kb=0"), \
                served("-o", "cache=1M") as (point, process):
            measured = []
            for block in range(8):
                for i in range(150):
                    for name in ("functions.csv", "summary.txt", "hide/MPI_*/contexts.csv"):
                        with open(os.path.join(point, ("focus", "ignore", "hide", "from")[i % 4], f"*[{block}{i}]*", name), "rb") as f:
                            self.assertTrue(f.read(64))
                measured.append(anonymous_bytes(process))
            # Of each filter, the tree and its costs alone have 40 kB.
            self.assertLess(min(measured[5:]), max(measured[1:4]) + (4 << 20), measured)


if __name__ == "__main__":
    main()
