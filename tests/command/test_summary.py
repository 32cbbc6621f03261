#!/usr/bin/env python3
"""summary.json of each small source: JSON with each key once, short, and with the values of the tables.

    test_summary.py PROFMOUNT SOURCES
"""
import csv
import io
import json
import os
import subprocess
import sys
import unittest

PROFMOUNT, SOURCES = (os.path.abspath(p) for p in sys.argv[1:3])


def cat(source, path):
    return subprocess.run([PROFMOUNT, "--cat", source, path], capture_output=True, timeout=600, check=True).stdout


def once(pairs):
    assert len({k for k, _ in pairs}) == len(pairs), pairs
    return dict(pairs)


class Summary(unittest.TestCase):
    def test_it_says_what_the_tables_say(self):
        n = 0
        for name in sorted(os.listdir(SOURCES)):
            source = os.path.join(SOURCES, name)
            if name == "builds":
                continue
            with self.subTest(name):
                text = cat(source, "summary.json")
                self.assertLessEqual(len(text), 4096)
                said = json.loads(text, object_pairs_hook=once)
                info = json.loads(cat(source, "info.json"))
                for key in ("format", "duration_ns", "primary_metric"):
                    self.assertEqual(said.get(key), info[key] or said.get(key), key)
                self.assertEqual(said["counts"]["contexts"], info["contexts"])
                table = {r["function_id"]: r for r in csv.DictReader(io.StringIO(cat(source, "functions.csv").decode("utf-8", "replace")))}
                for row in said.get("functions", {"rows": []})["rows"]:
                    for key, value in row.items():
                        if key.endswith(("_excl", "_incl")):
                            self.assertEqual(float(table[str(row["function_id"])][key]), float(value))
                            n += 1
                for part in said.values():
                    if isinstance(part, dict) and "file" in part:
                        cat(source, part["file"])
        self.assertGreater(n, 100)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]], verbosity=2)
