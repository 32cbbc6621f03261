#!/usr/bin/env python3
"""Measures profmount on big sources made here, each figure beside a baseline of the same run.

    tests/bench/run.py [--profmount build-release/fs/profmount] [--makers build-release/tests/bench]
                       [--work /tmp/profmount-bench] [--only hpctoolkit] [--large] [--markdown FILE]

Baselines: the same files on tmpfs for file system work, cat from the page cache for reading, awk over a ready CSV for
answers, inflating for compressed formats. Client and process are pinned to one processor where file system work is compared:
unpinned, waking up on the other one scatters such figures by a factor of three. Nothing here is a test.
"""
import argparse
import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
TMPFS = "/dev/shm"
RUNS = 3


class Table:
    """Rows of what | figure | baseline | ratio, printed as they come and kept for the documents."""

    def __init__(self):
        self.sections = []

    def section(self, title):
        print(f"\n{title}")
        self.sections.append((title, []))

    def row(self, what, figure, baseline="", ratio=""):
        print(f"  {what:58} {figure:>14} {baseline:>24} {ratio:>8}")
        self.sections[-1][1].append((what, figure, baseline, ratio))

    def markdown(self):
        out = []
        for title, rows in self.sections:
            out += [f"\n### {title}\n", "| what | figure | baseline | ratio |", "|---|---:|---:|---:|"]
            out += ["| " + " | ".join(row) + " |" for row in rows]
        return "\n".join(out) + "\n"


def seconds(s):
    return f"{s * 1e3:.1f} ms" if s < 1 else f"{s:.2f} s"


def rate(n, s):
    return f"{n / s / 1e6:.0f} MB/s"


def per_second(n, s):
    return f"{n / s / 1e3:.0f} k/s"


def timed(function, *args):
    start = time.perf_counter()
    function(*args)
    return time.perf_counter() - start


def best(function, *args, runs=RUNS):
    return min(timed(function, *args) for _ in range(runs))


def shell(command, cwd=None, cpu=None):
    words = (["taskset", "-c", str(cpu)] if cpu is not None else []) + ["sh", "-c", command]
    subprocess.run(words, cwd=cwd, check=True, stdout=subprocess.DEVNULL)


def size(path):
    if os.path.isfile(path):
        return os.path.getsize(path)
    return sum(os.path.getsize(os.path.join(d, n)) for d, _, names in os.walk(path) for n in names)


class Bench:
    def __init__(self, options):
        self.profmount = os.path.abspath(options.profmount)
        self.makers = os.path.abspath(options.makers)
        self.work = options.work
        self.large = options.large
        self.table = Table()
        os.makedirs(self.work, exist_ok=True)

    def make(self, maker, name, *args):
        """A source, made once; in the page cache afterwards."""
        path = os.path.join(self.work, name)
        if not os.path.exists(path):
            subprocess.run([os.path.join(self.makers, maker), path + ".part", *map(str, args)], check=True)
            os.rename(path + ".part", path)
        for folder, _, names in os.walk(path) if os.path.isdir(path) else [(self.work, [], [name])]:
            for n in names:
                shell(f"cat '{os.path.join(folder, n)}' >/dev/null")
        return path

    @contextlib.contextmanager
    def mounted(self, source, cpu=None):
        """Yields (mountpoint, process id)."""
        point = tempfile.mkdtemp(prefix="mnt-", dir=self.work)
        words = ["taskset", "-c", str(cpu)] if cpu is not None else []
        process = subprocess.Popen([*words, self.profmount, "-f", source, point])
        while not os.path.ismount(point):
            time.sleep(0.0005)
        try:
            yield point, process.pid
        finally:
            subprocess.run(["fusermount3", "-u", point], check=True)
            process.wait()
            os.rmdir(point)

    def mount_time(self, source):
        """From the command to the moment at which it returns, the mount being ready."""
        def once():
            point = tempfile.mkdtemp(prefix="mnt-", dir=self.work)
            took = timed(lambda: subprocess.run([self.profmount, source, point], check=True))
            subprocess.run(["fusermount3", "-u", point], check=True)
            os.rmdir(point)
            return took
        return min(once() for _ in range(RUNS))

    def memory(self, pid):
        with open(f"/proc/{pid}/status", encoding="ascii") as f:
            fields = dict(line.split(":", 1) for line in f)
        return int(fields["RssAnon"].split()[0]) * 1024

    # ---- what every format is asked ----

    def first_answer(self, title, source):
        """Mount, and the ten most costly functions."""
        def once():
            point = tempfile.mkdtemp(prefix="mnt-", dir=self.work)
            took = timed(lambda: (subprocess.run([self.profmount, source, point], check=True),
                                  shell(f"sort -t, -k3,3gr {point}/functions.csv | head -n 10")))
            shutil.copy(f"{point}/functions.csv", f"{self.work}/ready.csv")
            subprocess.run(["fusermount3", "-u", point], check=True)
            os.rmdir(point)
            return took
        took = min(once() for _ in range(RUNS))
        ready = best(shell, f"sort -t, -k3,3gr {self.work}/ready.csv | head -n 10")
        self.table.row(f"{title}: mount and top 10 functions", seconds(took), f"sort of a ready CSV {seconds(ready)}")

    def reading(self, title, source, name):
        """First and second reading of one file, against tmpfs."""
        with self.mounted(source) as (point, _):
            path = os.path.join(point, name)
            first_stat = timed(os.stat, path)
            n = os.stat(path).st_size
            tail = best(shell, f"tail -c 1000 '{path}'")
            first = timed(shell, f"cat '{path}'")
            second = best(shell, f"cat '{path}'")
            copy = os.path.join(TMPFS, "profmount-bench-copy")
            shutil.copyfile(path, copy)
        base = best(shell, f"cat '{copy}'")
        os.unlink(copy)
        self.table.row(f"{title} ({n / 1e6:.0f} MB): first stat", seconds(first_stat))
        self.table.row(f"{title}: tail -c 1000 after it", seconds(tail))
        self.table.row(f"{title}: first reading after it", rate(n, first), f"tmpfs {rate(n, base)}", f"{base / first:.2f}")
        self.table.row(f"{title}: second reading", rate(n, second), f"tmpfs {rate(n, base)}", f"{base / second:.2f}")

    def walks(self, source):
        """The same commands on the mount and on its extracted copy in tmpfs, pinned to one processor."""
        copy = tempfile.mkdtemp(prefix="profmount-bench-", dir=TMPFS)
        subprocess.run([self.profmount, "--extract", source, copy], check=True)
        entries = sum(len(d) + len(f) for _, d, f in os.walk(copy))
        commands = (("find", "find . -type d", entries), ("ls -l of by-id/", "ls -lU by-id", None),
                    ("small files (cat of every metric)", "find contexts -path '*/metrics/*' -print0 | xargs -0 cat", None),
                    ("grep -r over metrics", "grep -r --include='*_incl' -c . contexts", None))
        for title, command, _ in commands:
            base = best(shell, command, copy, 0)
            with self.mounted(source, cpu=0) as (point, _):
                cold = timed(shell, command, point, 0)
                warm = best(shell, command, point, 0)
            self.table.row(f"{title}: cold", seconds(cold), f"tmpfs {seconds(base)}", f"{base / cold:.2f}")
            self.table.row(f"{title}: warm", seconds(warm), f"tmpfs {seconds(base)}", f"{base / warm:.2f}")
        shutil.rmtree(copy)

    # ---- formats ----

    def hpctoolkit(self):
        sizes = [("56 MB", (20000, 64, 8000, 20000)), ("560 MB", (200000, 136, 40000, 80000))]
        if self.large:
            sizes.append(("5 GB", (1000000, 1000, 50000, 100000)))
        self.table.section("HPCToolkit databases")
        for label, numbers in sizes:
            source = self.make("make_hpctoolkit", f"hpctoolkit-{label.replace(' ', '')}", *numbers)
            label = f"{size(source) / 1e6:.0f} MB, {numbers[0]} contexts, {numbers[1]} threads"
            self.table.row(f"{label}: mount ready", seconds(self.mount_time(source)))
            self.first_answer(label, source)
            with self.mounted(source) as (point, pid):
                shell(f"cat {point}/contexts.csv {point}/functions.csv {point}/threads.csv {point}/imbalance.csv")
                self.table.row(f"{label}: private memory after all tables", f"{self.memory(pid) / 1e6:.0f} MB")
                for name in ("export/cputime_ns.collapsedstack.txt", "export/cputime_ns.pb.gz", "export/flamegraph.svg"):
                    self.table.row(f"{label}: {name}", seconds(timed(os.stat, os.path.join(point, name))))
        thread = "threads/node=0/rank=0/thread=0"
        source = os.path.join(self.work, "hpctoolkit-560MB")
        self.reading("contexts.csv", source, "contexts.csv")
        self.reading("profile.csv", source, f"{thread}/profile.csv")
        self.reading("values.csv", source, f"{thread}/values.csv")
        self.reading("trace.csv of 80 k samples", source, f"{thread}/trace.csv")
        samples = 100000000 if self.large else 10000000
        source = self.make("make_hpctoolkit", f"hpctoolkit-trace{samples}", 20000, 1, 2000, samples)
        self.reading(f"trace.csv of {samples // 1000000} M samples", source, f"{thread}/trace.csv")
        self.table.section("File system work (one processor for client and process)")
        self.walks(self.make("make_hpctoolkit", "hpctoolkit-walk", 10000, 4, 10000, 100))


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--profmount", default=os.path.join(ROOT, "build-release/fs/profmount"))
    p.add_argument("--makers", default=os.path.join(ROOT, "build-release/tests/bench"))
    p.add_argument("--work", default="/tmp/profmount-bench")
    p.add_argument("--only", default="", help="one format")
    p.add_argument("--large", action="store_true", help="also sources of gigabytes")
    p.add_argument("--markdown", help="write the table there too")
    options = p.parse_args()
    bench = Bench(options)
    for name in ("hpctoolkit", "hpcrun", "nytprof", "zts", "htdump"):
        if hasattr(bench, name) and options.only in ("", name):
            getattr(bench, name)()
    if options.markdown:
        with open(options.markdown, "w", encoding="utf-8") as f:
            f.write(bench.table.markdown())


if __name__ == "__main__":
    sys.exit(main())
