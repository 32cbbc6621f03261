#!/usr/bin/env python3
"""-o follow: when the source has grown, the mount switches from one complete snapshot to the next.

    test_follow.py PROFMOUNT SOURCE CONFINEMENT MAKERS
"""
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

import sources
from mounts import main, mounted, run, slurp, wait_until

MAKERS = sys.argv[4]
PARTS = 4


def cat(source, name):
    return run("--cat", source, name).stdout


class Follow(unittest.TestCase):
    """A stream that is written in parts."""

    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        self.data = slurp(sources.make(MAKERS, "htdump", self.folder))
        self.path = os.path.join(self.folder, "growing.htdump")
        self.upto(1)

    def upto(self, part):
        """The first parts of the stream; a mount has to present the same as a copy of them."""
        with open(self.path, "r+b" if os.path.exists(self.path) else "wb") as f:
            have = f.seek(0, os.SEEK_END)
            f.write(self.data[have:len(self.data) * part // PARTS])

    def test_documents_move_on_with_the_source(self):
        with mounted("-o", "follow", source=self.path) as point:
            for part in range(1, PARTS + 1):
                self.upto(part)
                for name in ("summary.txt", "functions.csv", "raw/events.csv"):
                    want = cat(self.path, name)
                    self.assertTrue(wait_until(lambda: slurp(os.path.join(point, name)) == want), f"{name}, part {part}")

    def test_what_was_there_before_goes_on(self):
        with mounted("-o", "follow", source=self.path) as point:
            for name in ("threads", "contexts", "by-id"):
                os.listdir(os.path.join(point, name))
            self.upto(PARTS)
            want = cat(self.path, "contexts.csv")
            self.assertTrue(wait_until(lambda: slurp(os.path.join(point, "contexts.csv")) == want))
            done = subprocess.run(["grep", "-ra", ".", point], capture_output=True, timeout=600)
            self.assertEqual(done.stderr, b"")

    def test_an_open_file_is_of_one_snapshot_until_its_end(self):
        before = cat(self.path, "raw/events.csv")
        with mounted("-o", "follow", source=self.path) as point:
            with open(os.path.join(point, "raw/events.csv"), "rb", buffering=0) as f:
                got = f.read(1000)
                self.upto(2)
                after = cat(self.path, "raw/events.csv")
                self.assertTrue(wait_until(lambda: slurp(f.name) == after))
                while piece := f.read(10000):
                    got += piece
                self.assertEqual(got, before)
                # Read on at its end, it goes on: as a follower of the file does.
                self.assertEqual(os.fstat(f.fileno()).st_size, len(after))
                while piece := f.read(10000):
                    got += piece
                self.assertEqual(got, after)

    def test_tail_follows(self):
        output = os.path.join(self.folder, "tailed")
        with mounted("-o", "follow", source=self.path) as point, open(output, "wb") as out:
            tail = subprocess.Popen(["tail", "-n", "+1", "-f", os.path.join(point, "raw/events.csv")], stdout=out)
            try:
                for part in (2, 3):
                    self.upto(part)
                    want = cat(self.path, "raw/events.csv")
                    self.assertTrue(wait_until(lambda: slurp(output) == want), f"part {part}")
            finally:
                tail.kill()
                tail.wait()

    def test_a_source_that_cannot_be_read_any_more_leaves_what_was_there(self):
        want = cat(self.path, "functions.csv")
        with mounted("-o", "follow", source=self.path) as point:
            self.assertEqual(slurp(os.path.join(point, "functions.csv")), want)
            with open(self.path + ".new", "wb") as f:
                f.write(b"nothing")
            os.rename(self.path + ".new", self.path)
            self.assertEqual(slurp(os.path.join(point, "functions.csv")), want)
            self.upto(PARTS)
            os.unlink(self.path)
            self.upto(PARTS)
            want = cat(self.path, "functions.csv")
            self.assertTrue(wait_until(lambda: slurp(os.path.join(point, "functions.csv")) == want))

    def test_profiles_and_stores_are_followed(self):
        for name, file, document in (("nytprof", "", "raw/lines.csv"), ("nytprof deflated", "", "raw/lines.csv"),
                                     ("zts", "traces.dat", "traces.csv")):
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                source = sources.make(MAKERS, name, folder)
                path = os.path.join(source, file) if file else source
                data = slurp(path)
                with open(path, "wb") as f:
                    f.write(data[:len(data) // 2])
                with mounted("-o", "follow", source=source) as point:
                    half = slurp(os.path.join(point, document))
                    self.assertEqual(half, cat(source, document))
                    with open(path, "ab") as f:
                        f.write(data[len(data) // 2:])
                    want = cat(source, document)
                    self.assertNotEqual(want, half)
                    self.assertTrue(wait_until(lambda: slurp(os.path.join(point, document)) == want))

    def test_a_recording_of_perf_is_followed_or_served_as_it_was(self):
        """perf appends records, and writes into the header how many there are when it ends."""
        data_size = 0x30
        with tempfile.TemporaryDirectory() as folder:
            path = sources.make(MAKERS, "perf", folder)
            data = slurp(path)
            half = data[:data_size] + bytes(8) + data[data_size + 8:len(data) // 2]
            with open(path, "wb") as f:
                f.write(half)
            was = cat(path, "threads.csv")
            self.assertIn(b"perf was killed", cat(path, "damage.csv"))
            with mounted("-o", "follow", source=path) as follows, mounted(source=path) as stays:
                self.assertEqual(slurp(os.path.join(stays, "threads.csv")), was)
                for name, at in (("a part", len(half)), ("the header", data_size)):
                    with open(path, "r+b") as f:
                        f.seek(at)
                        f.write(data[at:] if at == len(half) else data[at:at + 8])
                    want = cat(path, "threads.csv")
                    self.assertTrue(wait_until(lambda: slurp(os.path.join(follows, "threads.csv")) == want), name)
                    self.assertEqual(slurp(os.path.join(stays, "threads.csv")), was)
                self.assertNotEqual(want, was)
                self.assertTrue(wait_until(lambda: b"perf was killed" not in slurp(os.path.join(follows, "summary.txt"))))
                self.assertIn(b"perf was killed", slurp(os.path.join(stays, "damage.csv")))

    def test_new_files_of_a_folder_are_seen(self):
        whole = sources.make(MAKERS, "hpcrun", self.folder)
        part = os.path.join(self.folder, "part")
        os.mkdir(part)
        names = sorted(os.listdir(whole))
        for i, name in enumerate(names):
            if i == len(names) // 2:
                with mounted("-o", "follow", source=part) as point:
                    for late in names[i:]:
                        shutil.copy2(os.path.join(whole, late), part)
                    want = cat(whole, "functions.csv")
                    self.assertTrue(wait_until(lambda: slurp(os.path.join(point, "functions.csv")) == want))
                return
            shutil.copy2(os.path.join(whole, name), part)


if __name__ == "__main__":
    main()
