#!/usr/bin/env python3
"""Records before the damage are presented as before: files are cut, and bytes changed, at positions all over them.

    test_before_damage.py PROFMOUNT SOURCES
"""
import csv
import io
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

PROFMOUNT, SOURCES = (os.path.abspath(p) for p in sys.argv[1:3])
# A source, its file with the records, and the table that has each record with its offset.
TABLES = (
    ("new.htdump", "", "raw/events.csv"),
    ("old.htdump", "", "raw/events.csv"),
    ("zts-plain", "traces.dat", "stores/000000/chunks.csv"),
    ("zts", "traces.dat", "stores/000000/chunks.csv"),
)
POSITIONS = 60


def rows_of(source, table):
    done = subprocess.run([PROFMOUNT, "--cat", source, table], stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
    assert done.returncode in (0, 1), done
    return list(csv.DictReader(io.StringIO(done.stdout.decode())))


class BeforeDamage(unittest.TestCase):
    def with_bytes(self, source, name, data):
        """The source with other bytes in one of its files."""
        with tempfile.TemporaryDirectory(prefix="profmount-test-") as folder:
            copy = os.path.join(folder, os.path.basename(source))
            if name:
                shutil.copytree(source, copy)
            with open(os.path.join(copy, name) if name else copy, "wb") as f:
                f.write(data)
            yield copy

    def sweep(self, change):
        tried = 0
        for source, name, table in TABLES:
            source = os.path.join(SOURCES, source)
            with open(os.path.join(source, name) if name else source, "rb") as f:
                data = f.read()
            whole = rows_of(source, table)
            ends = [int(row["offset"]) for row in whole[1:]] + [len(data)]
            for at in range(len(data) // POSITIONS, len(data), max(1, len(data) // POSITIONS)):
                before = sum(end <= at for end in ends)
                # An HTDUMP stream has no magic number: what tells it is the class description behind its first record.
                if before <= (not name):
                    continue
                for copy in self.with_bytes(source, name, change(data, at)):
                    with self.subTest(source=os.path.basename(source), at=at):
                        self.assertEqual(rows_of(copy, table)[:before], whole[:before])
                        tried += 1
        self.assertGreater(tried, POSITIONS)

    def test_what_stands_before_a_cut(self):
        self.sweep(lambda data, at: data[:at])

    def test_what_stands_before_a_changed_byte(self):
        self.sweep(lambda data, at: data[:at] + bytes([data[at] ^ 0xff]) + data[at + 1:])

    def test_what_stands_before_garbage(self):
        self.sweep(lambda data, at: data[:at] + bytes(i * 37 & 0xff for i in range(len(data) - at)))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
