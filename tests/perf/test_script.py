#!/usr/bin/env python3
"""Texts of perf script with the fields that people ask for, as a user reads them.

    test_script.py PROFMOUNT
"""
import csv
import os
import subprocess
import sys
import tempfile
import unittest

PROFMOUNT = os.path.abspath(sys.argv[1])
CHAIN = "\tffffffff816b8437 rw_verify_area ([kernel.kallsyms])\n\t           20b9a pread64 (/lib/ld.so)\n\n"


class Texts(unittest.TestCase):
    def rows(self, text, path):
        with tempfile.TemporaryDirectory(prefix="profmount-script-") as folder:
            source = os.path.join(folder, "script.txt")
            with open(source, "w", encoding="utf-8") as f:
                f.write(text)
            done = subprocess.run([PROFMOUNT, "--cat", source, path], capture_output=True, text=True, timeout=600, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return list(csv.DictReader(done.stdout.splitlines()))

    def own(self, text):
        return {row["name"]: row["cpu_clock_ns_excl"] for row in self.rows(text, "functions.csv")}

    def threads(self, text):
        return [(row["path"], row["cpu_clock_ns_excl"], row["first_ns"], row.get("thread_name")) for row in self.rows(text, "threads.csv")]

    def test_an_address_before_a_chain_is_no_frame(self):
        for fields in ("               0", "    7f0c00001000", "               0    5"):
            text = f"sh 71/72 6.817077:     500 cpu-clock: {fields}\n" + CHAIN
            self.assertEqual(self.own(text * 2), {"rw_verify_area": "1000", "pread64": "0"})

    def test_fields_before_a_frame_are_no_part_of_it(self):
        frames = {"               0 ffffffff816b8437 rw_verify_area+0x77 ([kernel.kallsyms])": "rw_verify_area",
                  "7f0c00001000 5080021 |OP LOAD|LVL L1 hit|BLK  N/A    7   55d0c00 main+0x4 (/bin/a)": "main",
                  "55d0c00 main+0x4 (/bin/a)": "main", "55d0c00 add+0x4 (/bin/a)": "add",
                  "55d0c00 operator|(A, B)+0x4 (/bin/a)": "operator|(A, B)", "55d0c00 [unknown] (/bin/a)": "a+0x55d0c00"}
        for frame, name in frames.items():
            self.assertEqual(self.own(f"sh 71/72 6.817077:     500 cpu-clock: {frame}\n"), {name: "500"})

    def test_modes_stand_before_the_time(self):
        text = "".join(f"sh 71/72 [001] {misc:5} 6.817077:     500 cpu-clock: \n{CHAIN}" for misc in ("K", "U", "KE"))
        self.assertEqual(self.threads(text), [("threads/process=71/thread=72", "1500", "0", "sh")])

    def test_threads_without_names(self):
        text = "71/72 6.817077:     500 cpu-clock: \n" + CHAIN
        self.assertEqual(self.threads(text), [("threads/process=71/thread=72", "500", "0", None)])
        text = "72 [001] 6.817077:     500 cpu-clock: \n" + CHAIN
        self.assertEqual(self.threads(text), [("threads/thread=72", "500", "0", None)])
        text = "9 72 6.817077:     500 cpu-clock: \n" + CHAIN
        self.assertEqual(self.threads(text), [("threads/thread=72", "500", "0", "9")])

    def test_places_that_are_not_known(self):
        text = ("sh 72     500 cpu-clock: \n\tffffffff816b8437 rw_verify_area\n  [kernel.kallsyms][ffffffff816b8437]\n"
                "\t20b9a pread64\n  :0\n\t20b9b main\n  main.c:7\n\n")
        self.assertEqual(self.rows(text * 5, "damage.csv"), [])
        self.assertEqual([(row["file"], row["line"]) for row in self.rows(text, "contexts.csv") if row["kind"] == "line"], [("main.c", "7")])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
