#!/usr/bin/env python3
"""Every table of sources as Parquet, against the same as CSV, cell by cell.

    test_parquet.py PROFMOUNT SOURCE…
    test_parquet.py PROFMOUNT --corpus CORPUS SOURCE…

parquet.py checks every byte of every file (offsets, sizes, statistics) without any package; then DuckDB, Polars and hyparquet read
them all. A table that one of them cannot read is a failure; if they are not installed, the test is skipped at its end.
Of tables that directories of many items have alike, the largest are read. --corpus takes every source of CORPUS/FORMAT/data,
where there is one; else the sources are taken.
"""
import argparse
import collections
import contextlib
import csv
import glob
import os
import re
import subprocess
import tempfile

import parquet
from clients import HERE, skip

MOST_BYTES = 28 << 20  # of a table
SLOW_BYTES = 8 << 20  # what parquet.py needs too long for
READERS = ("@duckdb/node-api", "hyparquet", "nodejs-polars", "nodejs-polars-linux-x64-gnu")


def extract(profmount, source, folder, *names):
    return subprocess.run([profmount, "-o", "max=2G", "--extract", source, folder, *names], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600, check=False)


def tables(folder, most_alike):
    """Paths of the CSV files, of each kind and place the largest."""
    kinds = collections.defaultdict(list)
    # Trees are deeper than os.walk can go, and paths longer than a system call takes.
    listed = subprocess.run(["find", folder, "-type", "f", "-name", "*.csv", "-printf", "%s %P\\0"], stdout=subprocess.PIPE, check=True)
    for line in listed.stdout.decode("utf-8", "surrogateescape").split("\0")[:-1]:
        size, path = line.split(" ", 1)
        if not path.startswith("source/") and len(line.encode("utf-8", "surrogateescape")) < 3800:
            kinds[path.split("/")[0], path.split("/")[-1]].append((int(size), path))
    found = []
    for files in kinds.values():
        files = [f for f in files if f[0] < MOST_BYTES]
        found += [path for _, path in sorted(files, reverse=True)[:most_alike]]
    return found


def have_readers():
    return all(os.path.isdir(os.path.join(HERE, "node_modules", name)) for name in READERS)


def readers(folder, paths):
    """The contents according to DuckDB, Polars and hyparquet; each must read all files."""
    if not have_readers():
        return "not read: DuckDB, Polars or hyparquet are not installed"
    with tempfile.NamedTemporaryFile("w", suffix=".list", encoding="utf-8") as file:
        file.write("".join(os.path.join(folder, path) + "\n" for path in paths))
        file.flush()
        done = subprocess.run(["node", os.path.join(HERE, "parquet.mjs"), file.name], capture_output=True, text=True,
                              timeout=1800, check=False)
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
        if os.path.exists(whole) and os.path.getsize(whole) > SLOW_BYTES:
            continue
        if not os.path.exists(whole):
            assert not rows, f"{name}.parquet is not there"
            continue
        names, values, _ = parquet.read(whole)
        assert not columns or names == ["thread_id", *columns], f"{name}: {names}"
        assert len(values[0]) == len(rows), f"{name}: {len(values[0])} rows, not {len(rows)}"
        for k, row in enumerate(rows):
            assert all(parquet.same(cell, values[i][k]) for i, cell in enumerate(row)), f"{name}: row {k} is not {row}"


@contextlib.contextmanager
def scratch():
    """A folder, removed by rm: shutil cannot go as deep as a tree may be."""
    folder = tempfile.mkdtemp(prefix="profmount-parquet-")
    try:
        yield folder
    finally:
        subprocess.run(["rm", "-rf", folder], check=True)


def check(profmount, source, most_alike):
    """The number of tables compared; 0 if the source cannot be opened."""
    with scratch() as folder:
        extract(profmount, source, folder)
        paths = tables(folder, most_alike)
        if not paths:
            print(f"{source}: cannot be opened")
            return 0
        twins = [re.sub(r"\.csv$", ".parquet", path) for path in paths]
        said = extract(profmount, source, folder, *twins).stdout.decode("utf-8", "replace")
        cells = 0
        for path, twin in zip(paths, twins):
            if os.path.getsize(os.path.join(folder, path)) > SLOW_BYTES:
                continue
            try:
                cells += parquet.compare(os.path.join(folder, twin), os.path.join(folder, path))
            except Exception as error:
                raise AssertionError(f"{source}: {twin}: {error!r} {said[-500:]}") from error
        check_all_threads(profmount, source, os.path.join(folder, "all-threads"))
        print(f"{os.path.basename(source)}: {len(paths)} tables, {cells} cells; {readers(folder, paths)}", flush=True)
    return len(paths)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("profmount", type=os.path.abspath)
    p.add_argument("--corpus", type=os.path.abspath)
    p.add_argument("--alike", type=int, default=12, help="tables of one kind and place")
    p.add_argument("sources", nargs="*", type=os.path.abspath)
    a = p.parse_args()
    corpus = sorted(glob.glob(f"{a.corpus}/*/data/*")) if a.corpus else []
    found, failed = 0, []
    for source in corpus or a.sources:
        try:
            found += check(a.profmount, source, a.alike)
        except AssertionError as error:
            if not corpus:
                raise
            failed.append(source)
            print(f"{source}: {error}", flush=True)
    assert found and not failed, f"{found} tables, failed: {failed}"
    print(f"{found} tables in all")
    if not have_readers():
        skip(f"DuckDB, Polars or hyparquet are not installed (npm install --no-package-lock --prefix {HERE})")


main()
