#!/usr/bin/env python3
"""Questions about time: the commands that recipes.txt and windows/README.txt of a mount give for them run, and find what
is in the tables.

    test_time.py PROFMOUNT SOURCE…

Which functions have the highest 99th percentile, what did all threads do in a part of the run, which ten iterations took
longest, and what ran in the longest. Sources without traces have none of them.
"""
import contextlib
import csv
import os
import re
import subprocess
import sys
import tempfile

sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import can_mount  # noqa: E402

PROFMOUNT, SOURCES = os.path.abspath(sys.argv[1]), [os.path.abspath(path) for path in sys.argv[2:]]
ENV = {**os.environ, "LC_ALL": "C.UTF-8"}


@contextlib.contextmanager
def mounted(source, *options):
    with tempfile.TemporaryDirectory(prefix="profmount-time-") as point:
        subprocess.run([PROFMOUNT, *options, source, point], check=True)
        try:
            yield point
        finally:
            subprocess.run(["fusermount3", "-u", point], check=True)


def rows(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def commands(point, document, heading=""):
    """Those below a heading, or all."""
    with open(os.path.join(point, document), encoding="utf-8") as file:
        text = file.read()
    parts = re.findall(r"(?m)^  (\S.*)\n((?:\$ .*\n)+)", text)
    return [line[2:] for title, lines in parts if heading in title for line in lines.splitlines()]


def output(point, command):
    done = subprocess.run(["sh", "-c", command], cwd=point, env=ENV, capture_output=True, timeout=600, check=False)
    if done.returncode or done.stderr or not done.stdout:
        raise SystemExit(f"{command}: {done.returncode} {done.stderr.decode()}{done.stdout.decode()[:200]}")
    return done.stdout.decode().splitlines()


def expect(truth, what):
    if not truth:
        raise SystemExit(what)


def check_percentiles(point):
    """The command sorts in the way of sort -gr, so only the numbers are compared."""
    for command in commands(point, "recipes.txt", "99th percentile"):
        known = sorted((int(row["p99_ns"] or 0) for row in rows(f"{point}/functions.csv")), reverse=True)[:10]
        said = [line.split()[0] for line in output(point, command)]
        expect(said == [f"{ns / 1e9:.9f}" for ns in known], f"{command}: {said}")


def check_windows(point):
    for command in commands(point, "windows/README.txt"):
        output(point, command)
    for command in commands(point, "windows/README.txt", "each thread"):
        table = rows(os.path.join(point, command.split()[-1]))
        folder = os.path.dirname(os.path.join(point, command.split()[-1]))
        expect(all(os.path.isdir(os.path.join(folder, row["path"])) for row in table), f"{command}: no directory")


def check_iterations(source, name):
    with mounted(source, "-o", f"iterations={name}") as point:
        longest, inside = commands(point, "recipes.txt", "iterations") or ("", "")
        if not longest:
            return 0
        table = rows(f"{point}/iterations.csv")
        known = sorted((int(row["duration_ns"]) for row in table), reverse=True)
        said = [int(line.split(",")[2]) for line in output(point, longest)]
        expect(said == known[:10], f"{longest}: {said}")
        expect(all(os.path.isdir(os.path.join(point, row["path"])) for row in table), "iterations.csv: no directory")
        if not any(row["thread_id"] for row in table):  # in a trace store, path is that of the trace
            spans = {row["path"]: (int(row["time_ns"]), int(row["duration_ns"] or 0)) for row in rows(f"{point}/traces.csv")}
            for row in table:
                start, length = spans[row["path"]]
                expect(start <= int(row["time_ns"]) <= start + length, f"iterations.csv: {row['path']} is another trace")
        table = [row for row in table if row["window"]]
        most = max(int(row["duration_ns"]) for row in table)
        could = []
        for row in table:
            if int(row["duration_ns"]) == most:
                thread = row["path"] if row["thread_id"] else ""  # a trace of a store has no windows
                with open(os.path.join(point, thread, row["window"], "functions.tsv"), encoding="utf-8") as file:
                    could.append(file.read().splitlines()[:6])
        expect(output(point, inside) in could, inside)
        return len(table)


def check_unknown_name(source):
    with mounted(source, "-o", "iterations=nothing") as point, open(f"{point}/recipes.txt", encoding="utf-8") as file:
        expect("  iterations.csv cannot be read: -o iterations: nothing is called `nothing`" in file.read(), "recipes.txt does not say why")


def check(source):
    with mounted(source) as point:
        check_percentiles(point)
        if not os.path.exists(f"{point}/windows/README.txt"):
            return print(f"{source}: no traces")
        check_windows(point)
        check_unknown_name(source)
        names = [row["name"] for row in rows(f"{point}/functions.csv") if re.fullmatch(r"[\w:. ()]+", row["name"])]
    counts = [check_iterations(source, name) for name in names[:3] if not name.startswith("(")]
    return print(f"{source}: {counts} iterations")


if can_mount.why_not():
    print(can_mount.why_not())
    sys.exit(77)
for each in SOURCES:
    check(each)
