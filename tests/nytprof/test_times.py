#!/usr/bin/env python3
"""Percentiles and histograms of the times of calls, against a reader of returns that shares nothing with formats/nytprof.

    test_times.py PROFMOUNT CORPUS

CORPUS is the folder of NYTProf files of ../shared/corpus; exit 77 without it. With perl and Devel::NYTProf, a program is
profiled as well.
"""
import bisect
import collections
import csv
import io
import math
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib

PROFMOUNT = [*os.environ.get("EMULATOR", "").split(), os.path.abspath(sys.argv[1])]
CORPUS = sys.argv[2]
TEXT = r"\(eval [0-9a-f]{8}\)\["
SHARES = {"p50_ns": 50, "p90_ns": 90, "p99_ns": 99, "max_ns": 100}
PROGRAM = """
sub fib { my $n = shift; $n < 2 ? $n : fib($n - 1) + fib($n - 2) }
sub work { my $x = 0; $x += $_ for 1 .. $_[0]; $x }
for (1 .. 2000) { fib($_ % 7); work($_ % 97); eval "sub { work($_) }->()" if $_ < 50 }
"""

# What follows the tag of a record: numbers u, doubles f, texts s; docs/formats/nytprof.md.
FIELDS = {"+": "uuu", "*": "uuuuu", "-": "", ">": "uu", "<": "uffs", "S": "uus", "s": "usuu", "c": "uusufffus",
          "P": "uuf", "p": "uf", "@": "uuuuuus"}


class Reader:
    def __init__(self, data):
        self.data, self.at, self.end = data, 0, len(data)

    def take(self, n):
        if self.at + n > self.end:
            raise EOFError
        self.at += n
        return self.data[self.at - n:self.at]

    def u(self):
        first = self.take(1)[0]
        more = 0 if first < 0x80 else 1 if first < 0xc0 else 2 if first < 0xe0 else 3 if first < 0xff else 4
        kept = (first, first & 0x3f, first & 0x1f, first & 0x0f, 0)[more]
        return kept << 8 * more | int.from_bytes(self.take(more), "big")

    def f(self):
        return struct.unpack("<d", self.take(8))[0]

    def s(self):
        if self.take(1) not in (b"'", b'"'):
            raise ValueError
        return self.take(self.u())

    def line(self):
        end = self.data.find(b"\n", self.at)
        if end < 0:
            raise EOFError
        return self.take(end + 1 - self.at)[:-1]


def inflated(data):
    """The readable part of a zlib stream that may be cut or damaged."""
    stream, out = zlib.decompressobj(), b""
    try:
        for at in range(0, len(data), 64):
            out += stream.decompress(data[at:at + 64])
    except zlib.error:
        pass
    return out


def returns(path):
    """{name: [ticks]}, and ticks per second as text."""
    with open(path, "rb") as f:
        reader = Reader(f.read())
    found, rate = collections.defaultdict(list), None
    try:
        reader.line()
        while reader.at < reader.end:
            tag = reader.take(1).decode("latin-1")
            if tag in "#:!":
                text = reader.line()
                if tag == ":" and text.startswith(b"ticks_per_sec="):
                    rate = text.partition(b"=")[2].decode()
            elif tag == "z":
                reader = Reader(inflated(reader.data[reader.at:]))
            elif tag in FIELDS:
                values = [getattr(reader, kind)() for kind in FIELDS[tag]]
                if tag == "<":
                    found[values[3]].append(values[1])
            else:
                break
    except (EOFError, ValueError):
        pass
    return found, rate


def text_of(name):
    try:
        return name.decode()
    except UnicodeDecodeError:
        return name.decode("latin-1")


# Whole numbers from which powers of the square root of 2 begin.
STARTS = sorted({0, *(math.isqrt((1 << power) - 1) + 1 for power in range(128))})


def histogram(values):
    """Rows of histogram.csv, from the bucket of the shortest to that of the longest."""
    rows, at = [], bisect.bisect_right(STARTS, values[0]) - 1
    while STARTS[at] <= values[-1]:
        there = [v for v in values if STARTS[at] <= v < STARTS[at + 1]]
        rows.append([str(n) for n in (STARTS[at], STARTS[at + 1], len(there), sum(there))])
        at += 1
    return rows


def expected(path, fold):
    found, rate = returns(path)
    ns = 1e9 / (float(rate or 0) or 1e7)
    calls = collections.defaultdict(list)
    for name, ticks in found.items():
        name = text_of(name)
        if fold:
            name = re.sub(r"\(eval \d+\)\[", "(eval)[", name)
        calls[name] += [int(max(t, 0) * ns + 0.5) for t in ticks]
    table = {}
    for name, values in calls.items():
        values.sort()
        table[name] = {column: str(values[(len(values) * share + 99) // 100 - 1]) for column, share in SHARES.items()}
        table[name]["calls"] = str(len(values))
        table[name]["histogram"] = histogram(values)
    return table


def served(path, options):
    """{name: row} of functions.csv; None if the file is refused."""
    done = subprocess.run([*PROFMOUNT, *options, "--cat", path, "functions.csv"], capture_output=True, timeout=600, check=False)
    if done.returncode != 0:
        return None
    reader = csv.DictReader(io.StringIO(done.stdout.decode(), newline=""))
    return {row["name"]: row for row in reader}


def served_histograms(path, folder):
    """{function_id: rows}"""
    out = os.path.join(folder, "functions-of")
    subprocess.run([*PROFMOUNT, "--extract", path, out, "functions"], check=True, timeout=600, stdout=subprocess.DEVNULL)
    found = {}
    for entry in os.scandir(os.path.join(out, "functions")):
        with open(os.path.join(entry.path, "info.txt"), "rb") as f:
            number = re.search(rb"^function_id: (\d+)$", f.read(), re.M).group(1).decode()
        histogram_path = os.path.join(entry.path, "histogram.csv")
        assert not os.path.exists(os.path.join(entry.path, "slowest.csv")), entry.path
        if os.path.exists(histogram_path):
            with open(histogram_path, newline="", encoding="ascii") as f:
                header, *found[number] = csv.reader(f)
            assert header == ["from_ns", "to_ns", "calls", "time_ns"], (path, header)
    shutil.rmtree(out)
    return found


def check(path, folder):
    """The number of functions with percentiles and histograms."""
    n = 0
    for options in ([], ["-o", "evals"]):
        table = served(path, options)
        if table is None:
            return 0
        want = expected(path, not options)
        n = len(want)
        histograms = served_histograms(path, folder) if not options else None
        subs = collections.Counter(re.sub(TEXT, "(eval)[", name) for name in table)
        calls = collections.Counter()
        assert histograms is None or len(histograms) == (len(table) if n else 0), (path, len(histograms))
        for name, row in table.items():
            if n == 0:
                assert "p50_ns" not in row, (path, name)
                continue
            name = re.sub(TEXT, "(eval)[", name) if not options else name
            if subs[name] > 1:  # evals of one line with different texts: a reader of returns cannot tell whose a call is
                calls[name] += int(row["calls"] or 0)
                continue
            known = want.pop(name, {"histogram": [], **dict.fromkeys(SHARES, "")})
            want_histogram = known.pop("histogram")
            if histograms is not None:
                assert histograms[row["function_id"]] == want_histogram, (path, name)
            if "calls" in known:
                assert row["calls"] == known.pop("calls"), (path, name, row)
            for column, value in known.items():
                assert row[column] == value, (path, name, column, row[column], value)
        for name, count in calls.items():
            assert str(count) == want.pop(name)["calls"], (path, name, count)
        assert not want, (path, list(want)[:3])
    return n


def profile(folder):
    if subprocess.run(["perl", "-MDevel::NYTProf::Data", "-e", "1"], check=False, capture_output=True).returncode != 0:
        return None
    out = os.path.join(folder, "fresh.out")
    env = {**os.environ, "NYTPROF": f"file={out}", "LC_ALL": "C.UTF-8"}
    subprocess.run(["perl", "-d:NYTProf", "-e", PROGRAM], env=env, check=True, timeout=600)
    return out


def main():
    files = sorted(os.listdir(CORPUS)) if os.path.isdir(CORPUS) else []
    folder = tempfile.mkdtemp(prefix="profmount-nytprof-")
    try:
        fresh = profile(folder) if shutil.which("perl") else None
        paths = [os.path.join(CORPUS, name) for name in files] + ([fresh] if fresh else [])
        counts = [check(path, folder) for path in paths if os.path.isfile(path)]
    finally:
        shutil.rmtree(folder)
    if not files:
        print(f"SKIPPED: {CORPUS}, the corpus of real profiles, is not there")
        sys.exit(77)
    if not fresh:
        print("SKIPPED: perl with Devel::NYTProf (Debian: libdevel-nytprof-perl) for a profile of today")
    assert sum(counts) > 500, counts
    print(f"{sum(counts)} functions in {sum(n > 0 for n in counts)} of {len(counts)} files")


main()
