#!/usr/bin/env python3
"""Any file may be the first that is asked for: what is built on first need is built for whoever needs it.

    test_first.py PROFMOUNT SOURCES
"""
import os
import random
import subprocess
import sys
import tempfile
import unittest

PROFMOUNT, SOURCES = (os.path.abspath(p) for p in sys.argv[1:3])
MOST = 25  # files of a source, beside the first of each folder at the root


def chosen(folder):
    """Paths of files: the first below each entry of the root, and some at random."""
    found, first = [], {}
    for where, _, names in os.walk(folder):
        for name in names:
            path = os.path.relpath(os.path.join(where, name), folder)
            found.append(path)
            first.setdefault(path.split("/")[0], path)
    random.Random(1).shuffle(found)
    return sorted(set(found[:MOST]) | set(first.values()))


class First(unittest.TestCase):
    def test_each_file_alone_is_as_among_the_others(self):
        for source in sorted(os.listdir(SOURCES)):
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(SOURCES, source)
                subprocess.run([PROFMOUNT, "--extract", path, folder], check=True, stderr=subprocess.DEVNULL)
                files = chosen(folder)
                self.assertGreater(len(files), 10, source)
                for name in files:
                    with self.subTest(source=source, file=name):
                        with open(os.path.join(folder, name), "rb") as f:
                            among = f.read()
                        alone = subprocess.run([PROFMOUNT, "--cat", path, name], capture_output=True)
                        self.assertEqual((alone.returncode, alone.stderr), (0, b""))
                        self.assertEqual(alone.stdout, among)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
