#!/usr/bin/env python3
"""Records before the damage are presented as before: files are cut, and bytes changed, at positions all over them.

    test_before_damage.py PROFMOUNT SOURCES

Where tables say at which offset a record stands, they are compared with those of the whole file. Where they do not, a
changed byte is compared with a cut in the same place: what stands before both is the same.
"""
import collections
import contextlib
import csv
import glob
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
# A source, its file with the records, the tables that show them, the columns that tell records, the column that counts.
RECORDS = (
    ("nytprof.out", "", "raw/lines.csv", ("fid", "line"), "count"),
    ("nytprof.out", "", "raw/source.csv", ("fid", "line", "text"), None),
    ("nytprof-deflated.out", "", "raw/lines.csv", ("fid", "line"), "count"),
    ("pynytprof.out", "", "raw/samples.csv", ("fid", "line"), "calls"),
    ("0198.hpcrun", "", "threads/**/raw/cct.csv", ("epoch", "id", "parent_id", "lm_ip"), None),
    ("0400.hpcrun", "", "threads/**/raw/cct.csv", ("epoch", "id", "parent_id", "lm_ip"), None),
    ("hpcrun", "made-000000-001-007f0101-4242-0.hpctrace", "threads/**/raw/trace.csv", ("time", "cct_id"), None),
    ("hpctoolkit", "trace.db", "threads/**/trace.csv", ("timestamp_ns", "context_id"), None),
    ("hpctoolkit", "profile.db", "threads/**/values.csv", ("context_id", "value"), None),
    ("hpctoolkit", "cct.db", "by-id/*/threads.csv", ("thread_id",), None),
    ("hpctoolkit", "meta.db", "raw/contexts.csv", ("context_id", "parent_id", "function_index"), None),
)
HPCTOOLKIT_HEADER = 0x30  # damage there is that of the whole file: it may be of another database
POSITIONS = 60
FEW_POSITIONS = 24  # where each takes three sources


def rows_of(source, table):
    done = subprocess.run([PROFMOUNT, "--cat", source, table], stdin=subprocess.DEVNULL, capture_output=True, timeout=600)
    assert done.returncode in (0, 1), done
    return list(csv.DictReader(io.StringIO(done.stdout.decode())))


def counts_of(source, table, keys, count):
    """How many of each record the tables show: of each table, unless it is one of a thread, which damage may rename."""
    counts = collections.Counter()
    with tempfile.TemporaryDirectory(prefix="profmount-test-") as folder:
        to = os.path.join(folder, "to")
        done = subprocess.run([PROFMOUNT, "--extract", source, to, table.split("/", 1)[0]], stdin=subprocess.DEVNULL,
                              capture_output=True, timeout=600)
        assert done.returncode in (0, 1), done
        for path in glob.glob(os.path.join(to, table), recursive=True):
            place = "" if table.startswith("threads/") else os.path.relpath(path, to)
            with open(path, newline="", encoding="utf-8") as file:
                for row in csv.DictReader(file):
                    counts[(place, *(row[key] for key in keys))] += int(row[count]) if count else 1
    return counts


@contextlib.contextmanager
def with_bytes(source, name, data):
    """The source with other bytes in one of its files."""
    with tempfile.TemporaryDirectory(prefix="profmount-test-") as folder:
        copy = os.path.join(folder, os.path.basename(source))
        if name:
            shutil.copytree(source, copy)
        with open(os.path.join(copy, name) if name else copy, "wb") as f:
            f.write(data)
        yield copy


def flip(data, at):
    return data[:at] + bytes([data[at] ^ 0xff]) + data[at + 1:]


def garble(data, at):
    return data[:at] + bytes(i * 37 & 0xff for i in range(len(data) - at))


class BeforeDamage(unittest.TestCase):
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
                with with_bytes(source, name, change(data, at)) as copy, \
                        self.subTest(source=os.path.basename(source), at=at):
                    self.assertEqual(rows_of(copy, table)[:before], whole[:before])
                    tried += 1
        self.assertGreater(tried, POSITIONS)

    def test_what_stands_before_a_cut(self):
        self.sweep(lambda data, at: data[:at])

    def test_what_stands_before_a_changed_byte(self):
        self.sweep(flip)

    def test_what_stands_before_garbage(self):
        self.sweep(garble)

    def compare(self, source, name, table, keys, count):
        """Cuts show ever more, damage in the place of a cut no less."""
        before, parts = collections.Counter(), 0
        with open(os.path.join(source, name) if name else source, "rb") as f:
            data = f.read()
        whole = counts_of(source, table, keys, count)
        self.assertGreater(len(whole), 1)
        step = max(1, len(data) // FEW_POSITIONS)
        for at in range(max(step, HPCTOOLKIT_HEADER if name.endswith(".db") else 0), len(data), step):
            with with_bytes(source, name, data[:at]) as copy:
                cut = counts_of(copy, table, keys, count)
            parts += 0 < sum(cut.values()) < sum(whole.values())
            self.assertFalse(before - cut, f"a cut at {at} shows less than one before")
            self.assertFalse(cut - whole, f"a cut at {at} shows more than all")
            for change in (flip, garble):
                with with_bytes(source, name, change(data, at)) as copy:
                    self.assertFalse(cut - counts_of(copy, table, keys, count), f"{change.__name__} at {at} against a cut")
            before = cut
        # Other files hold what cct.db does.
        self.assertTrue(parts > 0 or before == whole, "no cut shows a part")

    def test_damage_costs_no_more_than_a_cut(self):
        for source, name, table, keys, count in RECORDS:
            with self.subTest(source=source, name=name, table=table):
                self.compare(os.path.join(SOURCES, source), name, table, keys, count)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
