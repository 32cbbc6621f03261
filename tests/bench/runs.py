#!/usr/bin/env python3
"""How long many small runs in one mount take, and how that grows; how long two large databases take: never a test.

    runs.py PROFMOUNT [--count N] [--makers BUILD/tests/bench]

Makes N and 2 N HTDUMP streams of 20 functions and reads tables of all of them without a mount, three times each, in turns.
Prints the least user and system CPU time, the peak of memory, and the growth from N to 2 N. With --makers, makes two
HPCToolkit databases of 550 MB and prints the same for their comparison, beside both alone, and the time until a mount has
answered `head compare/new/functions.csv`.
"""
import argparse
import os
import random
import subprocess
import sys
import tempfile
import time

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


def best(words):
    return min(measure(words) for _ in range(TIMES))


def mount_and_head(profmount, sources):
    """Seconds until a new mount has answered."""
    point = tempfile.mkdtemp(prefix="profmount-bench-")
    begin = time.monotonic()
    subprocess.run([profmount, *sources, point], check=True)
    try:
        with open(f"{point}/compare/new/functions.csv", "rb") as file:
            file.read(4096)
        return time.monotonic() - begin
    finally:
        subprocess.run(["fusermount3", "-u", point], check=True)
        os.rmdir(point)


def compare_databases(profmount, makers, work):
    paths = [os.path.join(work, name) for name in ("base", "new")]
    for path in paths:
        subprocess.run([os.path.join(makers, "make_hpctoolkit"), path, "200000", "136", "40000", "80000"], check=True)
    named = [f"base={paths[0]}", f"new={paths[1]}"]
    print("two databases:        alone: CPU, memory   compared")
    for table in ("functions.csv", "contexts.csv"):
        alone = best([profmount, "--cat", paths[0], table])
        both = best([profmount, "--cat", *named, "--", "compare/new/" + table])
        print(f"{table:20} {alone[0]:7.3f} s {alone[1]:5.0f} MB  {both[0]:7.3f} s {both[1]:5.0f} MB")
    took = min(mount_and_head(profmount, named) for _ in range(TIMES))
    print(f"mount and head of compare/new/functions.csv: {took:.3f} s elapsed")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("profmount")
    p.add_argument("--count", type=int, default=1000)
    p.add_argument("--makers")
    a = p.parse_args()
    if a.makers:
        with tempfile.TemporaryDirectory(prefix="profmount-bench-") as work:
            compare_databases(a.profmount, a.makers, work)
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
