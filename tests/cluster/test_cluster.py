#!/usr/bin/env python3
"""Four nodes mount one database, and share the work: Dask over CSV, DuckDB over Parquet, as docs/remote.md has it.

    test_cluster.py PROFMOUNT SOURCE BENCH [--speed]

BENCH is the folder of make_hpctoolkit. All answers must be those of one node. The speed of two workers is printed, not
tested: it says something on a machine that is otherwise idle, with --speed, which shares more work.
"""
import collections
import contextlib
import csv
import json
import os
import re
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
CLIENTS = os.path.join(HERE, "../clients")
sys.path += [os.path.dirname(HERE), CLIENTS]
import can_mount  # noqa: E402
import nodes  # noqa: E402
from clients import expect, node_module, program, skip  # noqa: E402

PYTHON = "/usr/bin/python3"  # Debian's, which has Debian's packages
SAMPLES, MANY_SAMPLES = 100000, 300000  # a thread's: for Dask, and for what DuckDB takes as long for
# With --speed, as many as take several times as long as the programs' start, which is not divided: 1.2 GB.
SPEED_SAMPLES, SPEED_MANY_SAMPLES = 300000, 4000000
ROUNDS = 2


def need():
    program(PYTHON, "python3")
    if subprocess.run([PYTHON, "-c", "import dask.dataframe, distributed"], stderr=subprocess.DEVNULL, check=False).returncode:
        skip("Dask is not installed (Debian: apt-get install python3-distributed python3-pandas)")
    node_module("@duckdb/node-api")
    for why in (can_mount.why_not(), nodes.why_not()):
        if why:
            skip(why)


def documented(begin):
    """The code block of docs/remote.md whose first line begins so."""
    with open(os.path.join(HERE, "../../docs/remote.md"), encoding="utf-8") as file:
        block = re.search(rf"(?m)^    {re.escape(begin)}.*\n(?:(?:    .*)?\n)*", file.read())
    return re.sub("(?m)^    ", "", block.group())


class Cluster:
    """Nodes that share a folder, and have mounted a database at the same place."""

    def __init__(self, profmount, folder):
        self.profmount, self.folder, self.point = profmount, folder, os.path.join(folder, "prof")
        os.mkdir(self.point)
        self.nodes = nodes.make(4)
        duckdb = os.path.join(folder, "duckdb")
        with open(duckdb, "w", encoding="utf-8") as file:
            file.write(f'#!/bin/sh\nexec node {CLIENTS}/duckdb.mjs "$@"\n')
        os.chmod(duckdb, 0o755)

    @contextlib.contextmanager
    def mounted(self, source, number):
        """The first nodes, each with a new mount."""
        some = self.nodes[:number]
        for node in some:
            node.run(self.profmount, source, self.point)
        try:
            yield some
        finally:
            for node in some:
                node.run("fusermount3", "-u", self.point)

    @contextlib.contextmanager
    def dask(self, some):
        """The address of a scheduler that has a worker on each of these nodes."""
        scheduler = f"tcp://{some[0].address}:8786"
        with open(os.path.join(self.folder, "dask.log"), "w", encoding="utf-8") as log:
            programs = [some[0].start("dask-scheduler", "--host", some[0].address, "--no-dashboard", stdout=log, stderr=log)]
            programs += [node.start("dask-worker", scheduler, "--host", node.address, "--nthreads", "1", "--no-nanny",
                                    "--no-dashboard", "--local-directory", os.path.join(self.folder, node.address),
                                    stdout=log, stderr=log) for node in some]
            try:
                yield scheduler
            finally:
                for one in reversed(programs):
                    one.terminate()
                    one.wait(nodes.SECONDS)

    def by_dask(self, source, number):
        """Costs of functions by the CSV files, the seconds that it took, and the processor seconds of the busiest node."""
        with self.mounted(source, number) as some, self.dask(some) as scheduler:
            path = os.path.join(self.folder, "lines.py")
            with open(path, "w", encoding="utf-8") as file:
                file.write(documented("import pathlib, dask").replace("/mnt/prof", self.point)
                           .replace("tcp://node1:8786", scheduler))
            said = json.loads(some[0].run(PYTHON, os.path.join(HERE, "run_dask.py"), scheduler, str(number), path))
            used = {re.search(r"[\d.]+", worker).group(): used for worker, used in said["used"].items()}
            return said["costs"], said["seconds"], max(used[n.address] + n.processor_seconds("profmount") for n in some)

    def sql(self, node, query):
        return json.loads(node.run("node", os.path.join(CLIENTS, "duckdb.mjs"), query))[0]

    def by_duckdb(self, source, number):
        """The same by the Parquet files: a process on each node, and one that adds up."""
        share, total = documented("cd /mnt/prof").replace("/mnt/prof", self.point), documented("select function, sum(ns)")
        with self.mounted(source, number) as some, tempfile.TemporaryDirectory(dir=self.folder) as results:
            begin = time.monotonic()
            path = f"{self.folder}:{os.environ['PATH']}"
            programs = [node.start("sh", "-euc", share, stdout=subprocess.DEVNULL, env={
                **os.environ, "PATH": path, "RESULTS": results, "SLURM_NTASKS": str(number), "SLURM_PROCID": str(i),
            }) for i, node in enumerate(some)]
            ended = [os.wait4(one.pid, 0) for one in programs]
            seconds = time.monotonic() - begin
            expect(not any(status for _, status, _ in ended), "DuckDB failed on a node")
            busiest = max(used.ru_utime + used.ru_stime + node.processor_seconds("profmount")
                          for (_, _, used), node in zip(ended, some))
            rows = self.sql(some[0], total.replace("RESULTS", results))
            return {name: int(ns) for name, ns in rows}, seconds, busiest

    def by_one(self, source):
        """The same by timeline.parquet, which has all threads."""
        with self.mounted(source, 1) as (node,):
            rows = self.sql(node, documented("select function, sum(duration_ns)").replace("/mnt/prof", self.point))
        return {name: int(ns) for name, ns in rows}


def by_hand(cluster, source):
    """The same by the CSV files of what was extracted, without any package."""
    costs = collections.Counter()
    with tempfile.TemporaryDirectory(dir=cluster.folder) as folder:
        nodes.run(cluster.profmount, "--extract", source, folder, "threads")
        for here, _, names in os.walk(folder):
            if "trace.csv" in names:
                with open(os.path.join(here, "trace.csv"), newline="", encoding="utf-8") as file:
                    for row in csv.DictReader(file):
                        if row["function"]:
                            costs[row["function"]] += int(row["duration_ns"] or 0)
    return dict(costs)


def check_same_files(cluster, source):
    """All nodes have the same names, inode numbers, sizes and bytes."""
    script = (f"cd {cluster.point}; find . -type f -printf '%P %i %s\\n' | sort; find threads -type f | sort | xargs sha256sum;"
              " sha256sum *.csv profiles.parquet timeline.parquet")
    with cluster.mounted(source, 4) as some:
        said = [node.run("sh", "-euc", script) for node in some]
    expect(all(one == said[0] for one in said) and "timeline.parquet" in said[0], "nodes have different files")
    print(f"4 nodes: the same {len(said[0].splitlines())} lines of names, inode numbers, sizes and checksums")


def check_answers(cluster, source, want):
    expect(len(want) > 1 and sum(want.values()) > 0, f"one node finds {want}")
    for name, ask in (("Dask", cluster.by_dask), ("DuckDB", cluster.by_duckdb)):
        costs, *_ = ask(source, 4)
        expect(costs == want, f"{name} on 4 nodes: {costs}, one node: {want}")
        print(f"{name} on 4 nodes: {len(costs)} functions, {sum(costs.values())} ns, as on one node")


def print_speed(name, source, ask):
    """Of each number of workers the fastest run. On a busy machine only the processor seconds say something."""
    runs = {1: [], 2: []}
    for _ in range(ROUNDS):
        for number, done in runs.items():
            done.append(ask(source, number)[1:])
    for what, (one, two) in zip(("elapsed", "of processor, on the busier node"),
                                zip(*([min(times) for times in zip(*done)] for done in runs.values()))):
        print(f"{name}: one worker {one:.2f} s, two workers {two:.2f} s {what}: {one / two:.2f} times as fast")


def make(bench, folder, samples):
    path = os.path.join(folder, f"samples-{samples}")
    nodes.run(os.path.join(bench, "make_hpctoolkit"), path, "20000", "24", "2000", str(samples))
    return path


def main():
    if len(sys.argv) != 4 and sys.argv[4:] != ["--speed"]:
        sys.exit(f"usage: {sys.argv[0]} PROFMOUNT SOURCE BENCH [--speed]")
    profmount, source, bench = (os.path.abspath(a) for a in sys.argv[1:4])
    few, many = (SPEED_SAMPLES, SPEED_MANY_SAMPLES) if sys.argv[4:] else (SAMPLES, MANY_SAMPLES)
    need()
    nodes.enter()
    with tempfile.TemporaryDirectory(prefix="profmount-cluster-") as folder:
        cluster = Cluster(profmount, folder)
        check_same_files(cluster, source)
        check_answers(cluster, source, by_hand(cluster, source))
        big = make(bench, folder, few)
        check_answers(cluster, big, cluster.by_one(big))
        print_speed("Dask, CSV", big, cluster.by_dask)
        print_speed("DuckDB, Parquet", make(bench, folder, many), cluster.by_duckdb)


main()
