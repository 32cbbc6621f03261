#!/usr/bin/env python3
"""Every table of a source as Parquet, against the same as CSV, cell by cell.

    test_parquet.py PROFMOUNT SOURCE…

parquet.py checks every byte of every file without any package; DuckDB, Polars and hyparquet read them where they are installed.
Of tables that directories of many items have alike, the first and the largest are read.
"""
import collections
import csv
import os
import re
import subprocess
import sys
import tempfile

import parquet
from clients import HERE

MOST_ALIKE = 12  # files of one kind and place
MOST_BYTES = 24 << 20


def extract(profmount, source, folder, *names):
    return subprocess.run([profmount, "-o", "max=1G", "--extract", source, folder, *names], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600, check=False)


def tables(folder):
    """Paths of the CSV files, of each kind the largest."""
    kinds = collections.defaultdict(list)
    for here, _, names in os.walk(folder):
        for name in names:
            path = os.path.relpath(os.path.join(here, name), folder)
            if name.endswith(".csv") and not path.startswith("source/"):
                depth = path.split("/")[0], path.split("/")[-1]
                kinds[depth].append((os.path.getsize(os.path.join(folder, path)), path))
    found = []
    for files in kinds.values():
        files = [f for f in files if f[0] < MOST_BYTES]
        found += [path for _, path in sorted(files, reverse=True)[:MOST_ALIKE]]
    return found


def readers(folder, paths):
    if not all(os.path.isdir(os.path.join(HERE, "node_modules", name)) for name in ("@duckdb/node-api", "hyparquet")):
        return None
    with tempfile.NamedTemporaryFile("w", suffix=".list", encoding="utf-8") as file:
        file.write("".join(os.path.join(folder, path) + "\n" for path in paths))
        file.flush()
        done = subprocess.run(["node", os.path.join(HERE, "parquet.mjs"), file.name], capture_output=True, text=True,
                              timeout=600, check=False)
    if done.returncode:
        raise AssertionError(done.stdout + done.stderr)
    return done.stdout.strip()


def rows_of(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


def check_all_threads(profmount, source, folder):
    """profiles.parquet and timeline.parquet are the threads' tables, one after the other."""
    # In a folder of their own: what is not named is left out where the budget ends.
    extract(profmount, source, folder, "threads.csv", "threads", "profiles.parquet", "timeline.parquet")
    threads = os.path.join(folder, "threads.csv")
    if not os.path.exists(threads):
        return
    header, *threads = rows_of(threads)
    for name, part in (("profiles", "profile.csv"), ("timeline", "trace.csv")):
        whole, rows, columns = os.path.join(folder, name + ".parquet"), [], []
        for thread in threads:
            path = os.path.join(folder, thread[header.index("path")], part)
            if os.path.exists(path):
                columns, *more = rows_of(path)
                rows += [thread[:1] + row for row in more]
        if not os.path.exists(whole):
            assert not rows, f"{name}.parquet is not there"
            continue
        names, values, _ = parquet.read(whole)
        assert not columns or names == ["thread_id", *columns], f"{name}: {names}"
        assert len(values[0]) == len(rows), f"{name}: {len(values[0])} rows, not {len(rows)}"
        for k, row in enumerate(rows):
            assert all(parquet.same(cell, values[i][k]) for i, cell in enumerate(row)), f"{name}: row {k} is not {row}"


def check(profmount, source):
    """False where the source cannot be opened."""
    with tempfile.TemporaryDirectory(prefix="profmount-parquet-") as folder:
        extract(profmount, source, folder)
        paths = tables(folder)
        if not paths:
            return False
        twins = [re.sub(r"\.csv$", ".parquet", path) for path in paths]
        said = extract(profmount, source, folder, *twins).stdout.decode("utf-8", "replace")
        cells = 0
        for path, twin in zip(paths, twins):
            try:
                cells += parquet.compare(os.path.join(folder, twin), os.path.join(folder, path))
            except Exception as error:
                raise AssertionError(f"{source}: {twin}: {error!r} {said[-500:]}") from error
        check_all_threads(profmount, source, os.path.join(folder, "all-threads"))
        print(f"{os.path.basename(source)}: {len(paths)} tables, {cells} cells; {readers(folder, paths) or 'SKIPPED: readers are not installed'}")
    return True


def main():
    profmount, *sources = (os.path.abspath(a) for a in sys.argv[1:])
    for source in sources:
        check(profmount, source)


main()
