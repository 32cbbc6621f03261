#!/usr/bin/env python3
"""How long many small runs in one mount take, and how that grows: never a test.

    runs.py PROFMOUNT [--count N]

Makes N and 2 N HTDUMP streams of 20 functions and reads tables of all of them without a mount, three times each, in turns.
Prints the least user and system CPU time, the peak of memory, and the growth from N to 2 N.
"""
import argparse
import os
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "runs"))
import streams  # noqa: E402

FUNCTIONS = [f"function_{k:02}" for k in range(20)]
TIMES = 3


def make(folder, count):
    rng = random.Random(count)
    for k in range(count):
        costs = {name: round(1000 * (i + 1) * (1 + rng.gauss(0, 0.02))) for i, name in enumerate(FUNCTIONS)}
        streams.write(os.path.join(folder, f"{k // 100:03}", f"{k:05}.htdump"), costs)


def measure(words):
    """(CPU seconds, peak of memory in MB) of a command."""
    child = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        sys.exit(f"{words}: exit {child.returncode}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("profmount")
    p.add_argument("--count", type=int, default=1000)
    a = p.parse_args()
    with tempfile.TemporaryDirectory(prefix="profmount-bench-") as work:
        folders = {}
        for count in (a.count, 2 * a.count):
            folders[count] = os.path.join(work, str(count))
            make(folders[count], count)
        for path in ("", "runs.csv", "functions.csv", "functions-wide.csv", "summary.txt"):
            best = {}
            for _ in range(TIMES):
                for count, folder in folders.items():
                    verb = ["--cat", folder, "--", path] if path else ["--ls", folder, "--", "runs"]
                    seconds, megabytes = measure([a.profmount, *verb])
                    if count not in best or seconds < best[count][0]:
                        best[count] = seconds, megabytes
            (one, _), (two, most) = best.values()
            print(f"{path or '--ls runs':20} {one:7.3f} s  {two:7.3f} s  x{two / max(one, 1e-3):.2f}  {most:5.0f} MB")


if __name__ == "__main__":
    main()
