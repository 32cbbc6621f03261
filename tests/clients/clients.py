"""What the tests of real viewers share: exports of a source in a folder, its totals by its tables, ways to run things.

Every test is `test_CLIENT.py PROFMOUNT SOURCE`: it writes the exports, opens them in the client and compares what the
client shows with contexts.csv, which the exports know nothing of. Without the client, it is skipped (exit 77).
"""
import csv
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
signal.signal(signal.SIGTERM, signal.default_int_handler)  # meson's timeout: what was started is ended, too
NS = {"sec": 1e9, "s": 1e9, "seconds": 1e9, "msec": 1e6, "ms": 1e6, "usec": 1e3, "us": 1e3}


def skip(why):
    print(f"SKIPPED: {why}")
    sys.exit(77)


def program(name, package, *places):
    """The path of a client's program; skips the test where there is none."""
    for path in (shutil.which(name), *places):
        if path and os.path.exists(path):
            return path
    return skip(f"{name} is not installed (Debian: apt-get install {package})")


def node_module(name):
    """The folder of an npm package that was installed here."""
    program("node", "nodejs")
    path = os.path.join(HERE, "node_modules", name)
    if not os.path.isdir(path):
        skip(f"{name} is not installed (npm install --no-package-lock --prefix {HERE})")
    return path


def run(*command, timeout=300, status=0, **more):
    """Standard output and error of a command, which must end with this exit status."""
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          **more) as child:
        try:
            said = child.communicate(timeout=timeout)[0].decode("utf-8", "replace")
        except BaseException:
            child.terminate()  # not killed: a driver ends its browser first
            try:
                child.wait(10)
            finally:
                child.kill()
            raise
    if status is not None and child.returncode != status:
        raise AssertionError(f"{' '.join(command)}: exit {child.returncode}: {said[-2000:]}")
    return said


def driver(script, *arguments):
    """Runs a script of this folder in node."""
    return run("node", os.path.join(HERE, script), *arguments)


class Source:
    """A source and a folder with some of its files, as a context manager."""

    def __init__(self, *names):
        if len(sys.argv) != 3:
            sys.exit(f"usage: {sys.argv[0]} PROFMOUNT SOURCE")
        self.profmount, self.source = (os.path.abspath(a) for a in sys.argv[1:])
        self.names = names

    def __enter__(self):
        self.folder = tempfile.mkdtemp(prefix="profmount-clients-")
        run(self.profmount, "--extract", self.source, self.folder, "metrics.csv", "contexts.csv", "threads.csv",
            *self.names)
        self.metrics = self.rows("metrics.csv")
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.folder)

    def path(self, name):
        return os.path.join(self.folder, name)

    def rows(self, name):
        with open(self.path(name), newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))

    def need(self, *names):
        run(self.profmount, "--extract", self.source, self.folder, *names)

    def exports(self, before, after, folder="export"):
        """(metric, path) of the exports called before + metric + after."""
        names = sorted(os.listdir(self.path(folder)))
        found = [(n[len(before):len(n) - len(after)], self.path(f"{folder}/{n}")) for n in names
                 if n.startswith(before) and n.endswith(after) and n != "profile.pb.gz"]  # of all metrics: there is none called `profile`
        expect(found, f"{folder}: no {before}METRIC{after}")
        return found

    def total(self, metric):
        """The cost of the whole run by contexts.csv, in the unit of exports, and the largest rounding error."""
        contexts = self.rows("contexts.csv")
        for row in self.metrics:
            column = row["column"]
            base, scale = self.export_name(column, row["unit"])
            if base != metric or column.endswith("_excl") and column[:-5] + "_incl" in contexts[0]:
                continue
            over = [c for c in contexts if not column.endswith("_incl") or c["depth"] == "0"]
            return scale * sum(float(c[column] or 0) for c in over), 0.5 * len(contexts) + 1
        raise AssertionError(f"{metric} is the name of no metric")

    @staticmethod
    def export_name(column, unit):
        base = re.sub("_(incl|excl)$", "", column)
        if unit in NS and base.endswith("_" + unit):
            return base[:-len(unit)] + "ns", NS[unit]
        return base, 1


def expect(truth, otherwise):
    if not truth:
        raise AssertionError(otherwise)


def expect_total(source, metric, shown, client):
    """The client shows the values of the source, except for rounding."""
    total, slack = source.total(metric)
    expect(abs(shown - total) <= slack + 1e-9 * total, f"{client} shows {shown:.0f} {metric}, the source has {total:.0f}")
    print(f"{client}: {metric} {shown:.0f}")


def documented(source):
    """The code of docs/remote.md, of this source in the place of the mount."""
    with open(os.path.join(HERE, "../../docs/remote.md"), encoding="utf-8") as file:
        code = re.findall(r"(?m)^    (.*)$", re.sub(r"(?m)^$", "    ", file.read()))
    return "\n".join(code).replace("/mnt/prof", source.folder)


def expect_ranks(source, shown, client):
    """The client shows the costs by rank that threads.csv has."""
    for rank in {row["rank"] for row in source.rows("threads.csv")}:
        total = sum(float(row["cputime_sec_excl"]) for row in source.rows("threads.csv") if row["rank"] == rank)
        expect(abs(float(shown[rank]) - total) <= 1e-9 * total, f"{client}: rank {rank}: {shown[rank]}, not {total}")
    print(f"{client}: {len(shown)} ranks, as docs/remote.md has it")
