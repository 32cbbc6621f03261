#!/usr/bin/env python3
"""Percentiles beyond the durations that fit into memory: those of a sorted list of all calls.

    test_few.py PROFMOUNT FEW MAKE_ZTS MAKE_HTDUMP MAKE_NYTPROF MAKE_TEXTS

FEW is the program with room for few durations. What both say has to be the same, and where there is a table of all
calls, it is what sorting them gives.
"""
import csv
import io
import math
import os
import subprocess
import sys
import tempfile

PROFMOUNT, FEW, MAKE_ZTS, MAKE_HTDUMP, MAKE_NYTPROF, MAKE_TEXTS = map(os.path.abspath, sys.argv[1:])
PERCENTS = {"p50_ns": 50, "p90_ns": 90, "p95_ns": 95, "p99_ns": 99, "max_ns": 100}
ROOM = 4000  # durations; of HTDUMP, which has fewer: 100


def run(*command, room=ROOM):
    return subprocess.run(command, check=True, capture_output=True, text=True, env={**os.environ, "ROOM": str(room)}).stdout


def cat(program, source, path, room=ROOM):
    return run(program, "--cat", source, path, room=room)


def rows(text):
    return list(csv.DictReader(io.StringIO(text)))


def names(source, path):
    return [name.rstrip("/") for name in run(PROFMOUNT, "--ls", source, path).split("\n") if name]


def check(ok, what):
    if not ok:
        sys.exit(f"FAILED: {what}")


def percentile(durations, percent):
    return durations[max(math.ceil(len(durations) * percent / 100), 1) - 1]


def check_sorted(calls, text, key, what, room=ROOM):
    """`calls`: (name, duration) of all calls, of which more are different than there is room for."""
    by_name = {}
    for name, duration in calls:
        by_name.setdefault(name, []).append(int(duration))
    check(len(set(calls)) > 3 * room, f"{what}: only {len(set(calls))} durations")
    found = rows(text)
    check(len(found) == len(by_name), f"{what}: {len(found)} rows for {len(by_name)} names")
    for row in found:
        durations = sorted(by_name[row[key]])
        for column in PERCENTS.keys() & row.keys():
            want = percentile(durations, PERCENTS[column])
            check(row[column] == str(want), f"{what}: {column} of {row[key]} is {row[column]}, not {want}")


def check_same(source, paths, minimum=1):
    for path in paths:
        few, want = cat(FEW, source, path), cat(PROFMOUNT, source, path)
        check(few == want, f"{path} of {source} differs")
        check(want.count("\n") > minimum, f"{path} of {source} has too few rows")


def zts(folder):
    source, to = os.path.join(folder, "zts"), os.path.join(folder, "calls")
    run(MAKE_ZTS, source, "1")
    run(PROFMOUNT, "--extract", source, to, "stores/000000/traces")
    calls = []
    for place, _, files in os.walk(to):
        if "calls.csv" in files:
            with open(os.path.join(place, "calls.csv"), encoding="utf-8") as file:
                calls += [(row["method"], row["duration_ns"]) for row in rows(file.read())]
    check_sorted(calls, cat(FEW, source, "methods.csv"), "method", "ZTS methods.csv")
    check_same(source, ["requests.csv", "attributes.csv", *(f"windows/1s-4s/{name}.csv" for name in ("methods", "attributes", "requests"))])


def traces(source, table, key):
    calls = []
    for thread in names(source, "threads"):
        if "trace.csv" in names(source, f"threads/{thread}"):
            calls += [(row["name"], row["duration_ns"])
                      for row in rows(cat(PROFMOUNT, source, f"threads/{thread}/trace.csv"))]
    check_sorted(calls, cat(FEW, source, table, ROOM // 40), key, f"{table} of {os.path.basename(source)}", ROOM // 40)


def main():
    with tempfile.TemporaryDirectory(prefix="profmount-few-") as folder:
        zts(folder)
        stream = os.path.join(folder, "stream.htdump")
        run(MAKE_HTDUMP, stream, "20000")
        traces(stream, "labels.csv", "label")
        traces(stream, "functions.csv", "name")
        profile = os.path.join(folder, "nytprof.out")
        run(MAKE_NYTPROF, profile, "1", "0")
        check_same(profile, ["functions.csv"] + [f"functions/{name}/histogram.csv" for name in names(profile, "functions")[:5]])
        events = os.path.join(folder, "events.pt.trace.json")
        run(MAKE_TEXTS, events, "kineto", "1")
        check_same(events, ["functions.csv"])


if __name__ == "__main__":
    main()
