#!/usr/bin/env python3
"""Measures profmount on large generated sources, each figure beside a baseline of the same run.

    tests/bench/run.py [--profmount build-release/fs/profmount] [--makers build-release/tests/bench]
                       [--work /tmp/profmount-bench] [--only FORMAT] [--small | --large] [--markdown FILE]

Of each format there are sources of several sizes; --small takes the first, to see that it works, --large also
those of gigabytes, deletes the sources of a format when it is done with it, and needs 16 GB of memory and as much of
disk. measure.py says what is measured, and how. Nothing here is a test.
"""
import argparse
import concurrent.futures
import os
import random
import shutil
import subprocess
import sys
import zlib

from curve import draw
from measure import CLIENTS, CURVES, Measure, best, megabytes, read_all, seconds, shell, size, timed

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(ROOT, "tests", "runs"))
import streams  # noqa: E402
JSON_PARSE = """node -e 'JSON.parse(require("fs").readFileSync(process.argv[1], "latin1"))'"""
# Only reads it, on demand: every value of every event.
SIMDJSON = """
#include <simdjson.h>
using namespace simdjson;
static size_t walk(ondemand::value v)
{
	size_t n = 1;
	if (v.type() == ondemand::json_type::object)
		for (auto field : v.get_object())
			n += walk(field.value());
	else if (v.type() == ondemand::json_type::array)
		for (auto item : v.get_array())
			n += walk(item.value());
	else if (v.type() == ondemand::json_type::number)
		n += v.get_double() > 0;
	return n;
}
int main(int, char **argv)
{
	ondemand::parser parser;
	auto text = padded_string::load(argv[1]);
	auto document = parser.iterate(text);
	size_t n = 0;
	for (auto field : document.get_object())
		n += walk(field.value());
	return n == 0;
}
"""
# What flamegraph.pl does first: lines, and a sum by frame of their last numbers.
AWK_SUMS = "awk '{ n = $NF; sub(/ [^ ]*$/, \"\"); k = split($0, f, \";\"); s[f[k]] += n } END { for (x in s) print s[x], x }'"
PERL_READER = "perl -MDevel::NYTProf::Data -e 'Devel::NYTProf::Data->new({filename => shift, quiet => 1})'"


def inflate(path, start):
    """Only inflates a zlib stream within a file; returns the number of bytes."""
    z, n = zlib.decompressobj(), 0
    with open(path, "rb") as f:
        f.seek(start)
        while block := f.read(1 << 18):
            n += len(z.decompress(block))
    return n


def inflate_chunks(path):
    """The same for all chunks of a store, on all processors; returns the number of bytes."""
    def inflate_one(data):
        return len(zlib.decompressobj(-15).decompress(data))
    with open(path, "rb") as f, concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        f.seek(16)
        chunks = []
        while head := f.read(16):
            chunks.append(f.read(int.from_bytes(head[4:8], "big")))
        return sum(pool.map(inflate_one, chunks))


class Bench(Measure):
    def hpctoolkit(self):
        thread = "threads/node=0/rank=0/thread=0"
        self.table.section("HPCToolkit databases")
        for numbers in self.sizes((2000, 8, 800, 2000), (200000, 136, 40000, 80000), (1000000, 1000, 50000, 100000)):
            source = self.make("make_hpctoolkit", "hpctoolkit-%d-%d" % numbers[:2], *numbers)
            label = f"{megabytes(size(source))}, {numbers[0]} contexts, {numbers[1]} threads"
            self.opening(label, source)
            self.report(label, source)
            self.lookups(label, source)
            self.exports(label, source, ("cputime_ns.collapsedstack.txt", "cputime_ns.pb.gz", "flamegraph.svg"))
        for name in ("contexts.csv", f"{thread}/profile.csv", f"{thread}/values.csv", f"{thread}/trace.csv"):
            self.reading(os.path.basename(name), source, name)
        for samples in self.sizes(100000, 10000000, 100000000):
            source = self.make("make_hpctoolkit", f"hpctoolkit-trace{samples}", 20000, 1, 2000, samples)
            stat = self.reading(f"trace.csv of {samples / 1e6:g} M samples", source, f"{thread}/trace.csv")
            self.table.growth("first stat of trace.csv", samples, stat)
            self.windows(f"{samples / 1e6:g} M samples", source)
        self.table.section("File system work (one processor for client and process)")
        self.walks(self.make("make_hpctoolkit", "hpctoolkit-walk", 10000, 4, 10000, 100))

    def filters(self):
        """Beside the table that they are filters of: a quarter of the functions, and one."""
        self.table.section("Filters")
        for n in self.sizes(2000, 200000, 1000000):
            source = self.make("make_hpctoolkit", f"hpctoolkit-filters-{n}", n, 20, n // 20, 100)
            whole = self.table_time(source, "functions.csv")
            for kind in ("focus", "ignore", "hide", "from"):
                for pattern in ("exchange_*", "exchange_79"):
                    name = f"{kind}/{pattern}/functions.csv"
                    self.goal(f"{n} contexts: {name}", self.table_time(source, name), whole, "functions.csv")

    def hpcrun(self):
        self.table.section("hpcrun measurements")
        for numbers in self.sizes((16, 1000, 5000), (128, 5000, 25000), (1000, 20000, 100000)):
            source = self.make("make_hpcrun", "hpcrun-%d" % numbers[0], *numbers)
            self.opening(f"{megabytes(size(source))}, {numbers[0]} profiles", source)
        for name in ("contexts.csv", "threads/rank=0/thread=0/profile.csv", "threads/rank=0/thread=0/trace.csv"):
            self.reading(os.path.basename(name), source, name)
        self.table.section("hpcrun measurements with wide call trees")
        for numbers in self.sizes((16, 1000, 0, 10000), (128, 5000, 0, 100000), (500, 20000, 0, 1000000)):
            source = self.make("make_hpcrun", "hpcrun-wide-%d" % numbers[0], *numbers)
            self.opening(f"{megabytes(size(source))}, {numbers[0]} profiles, {numbers[3]} paths", source)

    def nytprof(self):
        self.table.section("NYTProf profiles")
        for n in self.sizes(2, 200, 1000):
            plain = self.make("make_nytprof", f"nytprof-{n}", n, 0)
            base = best(shell, f"cat {plain}")
            self.opening(f"{n} MB plain", plain, "cat", base)
            packed = self.make("make_nytprof", f"nytprof-{n}-deflated", n, 6)
            with open(packed, "rb") as f:
                start = f.read(4096).index(b"z\x78") + 1
            base = best(inflate, packed, start)
            answer = self.opening(f"{n} MB deflated", packed, "zlib", base, inflate(packed, start))
            if subprocess.run(f"{PERL_READER} {packed}", shell=True, check=False, capture_output=True).returncode == 0:
                base = best(shell, f"{PERL_READER} {packed}", runs=1)
                self.table.row(f"{n} MB deflated: the same answer", seconds(answer),
                               f"Devel::NYTProf {seconds(base)}", f"{base / answer:.1f}")
        self.reading("raw/lines.csv", plain, "raw/lines.csv")

    def zts(self):
        self.table.section("ZTS0 stores")
        for n in self.sizes(1, 50, 500):
            source = self.make("make_zts", f"zts-{n}", n)
            self.opening(f"{n} MB", source)
            self.windows(f"{n} MB", source)
            base = best(inflate_chunks, os.path.join(source, "traces.dat"))
            bare = self.without_index(source)
            with self.mounted(source) as (point, _):
                traces = os.path.join(point, "stores", "000000", "traces")
                one = os.path.join(traces, os.listdir(traces)[0], "trace.json")
                self.table.row(f"{n} MB: one trace.json", seconds(timed(read_all, one)))
                data = os.path.join(point, "stores", "000000", "chunks", "1", "data.json")
                self.table.row(f"{n} MB: one data.json", seconds(timed(read_all, data)))
            for path, what in ((source, ""), (bare, ", without its index")):
                with self.mounted(path) as (point, _):
                    took = timed(read_all, f"{point}/methods.csv")
                self.table.row(f"{n} MB{what}: methods.csv", seconds(took), f"zlib, all processors {seconds(base)}", f"{base / took:.2f}")
        self.reading("traces.csv", source, "traces.csv")
        self.reading("contexts.csv", source, "contexts.csv")

    def without_index(self, store):
        """A store that was copied while it was written has none yet."""
        bare = store + "-bare"
        self.made.add(bare)
        shutil.copytree(store, bare, ignore=shutil.ignore_patterns("meta.*"), copy_function=os.link, dirs_exist_ok=True)
        return bare

    def htdump(self):
        self.table.section("HTDUMP streams")
        for n in self.sizes(60000, 6000000, 60000000):
            source = self.make("make_htdump", f"htdump-{n}-texts", n, "texts")
            self.goal(f"{megabytes(size(source))}, {n / 1e6:g} M calls, a fifth of the labels as texts: functions.csv",
                      self.table_time(source, "functions.csv"), best(shell, f"cat {source}"), "cat", size(source))
            source = self.make("make_htdump", f"htdump-{n}", n)
            self.opening(f"{megabytes(size(source))}, {n / 1e6:g} M calls", source, "cat", best(shell, f"cat {source}"))
            self.windows(f"{n / 1e6:g} M calls", source)
        for name in ("threads/thread=1/trace.csv", "raw/events.csv"):
            self.reading(os.path.basename(name), source, name)

    def peers(self, label, took, source, peers):
        """What else reads the source, in the same run; commands of programs that are not here are passed over."""
        for name, command in peers:
            if not command or not shutil.which(command.split()[0]):
                continue
            try:
                self.goal(f"{label} ({name})", took, best(shell, f"{command} '{source}'", runs=1), name, size(source))
            except subprocess.CalledProcessError:
                print(f"  {label}: {name} cannot read it")

    def simdjson(self):
        """A program over simdjson, if it is installed with its headers; or ""."""
        path = os.path.join(self.work, "simdjson")
        if not os.path.exists(path) and shutil.which("g++"):
            subprocess.run(["g++", "-O2", "-x", "c++", "-", "-o", path, "-lsimdjson"], input=SIMDJSON, text=True, check=False,
                           stderr=subprocess.DEVNULL)
        return path if os.path.exists(path) else ""

    def json(self):
        self.table.section("JSON: trace events, V8 profiles, speedscope")
        for kind, suffix, table, sizes in (("kineto", "pt.trace.json", "summary.txt", (20, 500, 2000)),
                                           ("cpuprofile", "cpuprofile", "functions.csv", (20, 200, 500)),
                                           ("speedscope", "speedscope.json", "functions.csv", (20, 180, 500))):
            for n in self.sizes(*sizes):
                source = self.make("make_texts", f"{kind}-{n}.{suffix}", kind, n)
                label = f"{kind}, {megabytes(size(source))}"
                self.table.row(f"{label}: mount ready", seconds(self.mount_time(source)))
                self.peers(f"{label}: {table}", self.table_time(source, table), source,
                           (("JSON.parse", JSON_PARSE), ("jq", "jq length"), ("simdjson", self.simdjson())))
                with self.mounted(source) as (point, pid):
                    read_all(f"{point}/{table}")
                    private, most = self.memory(pid)
                self.table.row(f"{label}: private memory after it", megabytes(private), f"VmHWM {megabytes(most)}", f"{private / size(source):.3f}")
            if kind == "kineto":
                self.windows(label, source)

    def texts(self):
        self.table.section("Text and profile.proto: folded stacks, perf script, pprof")
        for n in self.sizes(10, 200, 1000):
            source = self.make("make_texts", f"folded-{n}.folded", "folded", n)
            label = f"folded, {megabytes(size(source))}"
            self.peers(f"{label}: functions.csv", self.table_time(source, "functions.csv"), source,
                       (("awk that only sums", AWK_SUMS), ("flamegraph.pl", "flamegraph.pl")))
        for n in self.sizes(10, 100, 500):
            source = self.make("make_texts", f"script-{n}.txt", "script", n)
            label = f"perf script, {megabytes(size(source))}"
            self.peers(f"{label}: functions.csv", self.table_time(source, "functions.csv"), source,
                       (("stackcollapse-perf.pl", "stackcollapse-perf.pl"), ("wc", "wc")))
        n = self.sizes(10, 200, 1000)[-1]
        folded = self.make("make_texts", f"folded-{n}.folded", "folded", n)
        packed, raw = (os.path.join(self.work, name) for name in ("pprof.pb.gz", "pprof.pb"))
        with open(packed, "wb") as f:
            subprocess.run([self.profmount, "--cat", folded, "export/profile.pb.gz"], check=True, stdout=f)
        shell(f"gzip -dc '{packed}' > '{raw}'")
        self.made |= {packed, raw}
        for source in (packed, raw):
            self.peers(f"pprof, {size(source) / 1e6:.1f} MB {'gzip' if source == packed else 'raw'}: functions.csv",
                       self.table_time(source, "functions.csv"), source, (("go tool pprof", "go tool pprof -top -nodecount=1000000"),))

    def recordings(self):
        self.table.section("perf.data and callgrind.out")
        for kind, sizes, peers in (("perf", (10, 100, 1000), (("perf report", "perf report -f --stdio --no-children -g none -i"),
                                                              ("perf script", "perf script -f -i"))),
                                   ("callgrind", (5, 50, 500), (("callgrind_annotate", "callgrind_annotate"),))):
            for n in self.sizes(*sizes):
                source = self.make("make_recording", f"recording-{n}.{kind}", kind, n)
                label = f"{kind}, {megabytes(size(source))}"
                self.table.row(f"{label}: mount ready", seconds(self.mount_time(source)))
                self.peers(f"{label}: functions.csv", self.table_time(source, "functions.csv"), source, peers)
                with self.mounted(source) as (point, pid):
                    read_all(f"{point}/functions.csv")
                    private, most = self.memory(pid)
                self.table.row(f"{label}: private memory after it", megabytes(private), f"VmHWM {megabytes(most)}", f"{private / size(source):.3f}")

    def wide_trees(self):
        self.table.section("Wide call trees")
        mb, calls = self.sizes(2, 200, 1000)[-1], self.sizes(60000, 6000000, 25000000)[-1]
        self.wide("NYTProf", lambda paths: self.make("make_nytprof", f"nytprof-{mb}-paths{paths}", mb, 0, paths))
        self.wide_nytprof(mb)
        mb = self.sizes(1, 50, 150)[-1]
        self.wide("ZTS0", lambda paths: self.make("make_zts", f"zts-{mb}-paths{paths}", mb, paths))
        self.wide_zts()
        self.wide("HTDUMP", lambda paths: self.make("make_htdump", f"htdump-{calls}-paths{paths}", calls, paths))
        source = self.make("make_htdump", f"htdump-{calls}-paths100000", calls, 100000)
        self.goal(f"HTDUMP, {megabytes(size(source))}, 100000 call paths: functions.csv",
                  self.table_time(source, "functions.csv"), best(shell, f"cat {source}"), "cat", size(source))

    def wide_nytprof(self, mb):
        """The first answer: 43,612 call paths, plain and deflated, and 1,000,000."""
        for paths in (43612, self.sizes(10000, 1000000)[-1]):
            source = self.make("make_nytprof", f"nytprof-{mb}-paths{paths}", mb, 0, paths)
            self.goal(f"NYTProf, {megabytes(size(source))} plain, {paths} call paths: functions.csv",
                      self.table_time(source, "functions.csv"), best(shell, f"cat {source}"), "cat", size(source))
        packed = self.make("make_nytprof", f"nytprof-{mb}-wide-deflated", mb, 6, 43612)
        with open(packed, "rb") as f:
            start = f.read(4096).index(b"z\x78") + 1
        self.goal(f"NYTProf, {mb} MB deflated, 43612 call paths: functions.csv", self.table_time(packed, "functions.csv"),
                  best(inflate, packed, start), "zlib", inflate(packed, start))

    def wide_zts(self):
        """Tables of a store with 363,600 call paths, and libdeflate inflating its chunks, on the same processors."""
        mb = self.sizes(1, 50, 500)[-1]
        source = self.make("make_zts", f"zts-{mb}-wide", mb, 363600)
        base = best(shell, f"'{self.makers}/inflate_chunks' '{source}/traces.dat'")
        for name in ("methods.csv", "traces.csv"):
            self.goal(f"ZTS0, {megabytes(size(source))}, 363600 call paths: {name}", self.table_time(source, name), base, "libdeflate")

    def folder_of_runs(self, count):
        """Streams of 20 functions."""
        folder = os.path.join(self.work, f"runs-{count}")
        self.made.add(folder)
        rng = random.Random(count)
        if os.path.exists(folder):
            return folder
        for k in range(count):
            costs = {f"function_{i:02}": round(1000 * (i + 1) * (1 + rng.gauss(0, 0.02))) for i in range(20)}
            streams.write(os.path.join(folder + ".part", f"{k // 100:03}", f"{k:05}.htdump"), costs)
        os.rename(folder + ".part", folder)
        return folder

    def runs(self):
        self.table.section("Several runs in one mount")
        for count in self.sizes(100, 1000, 2000):
            folder = self.folder_of_runs(count)
            for path in ("", "runs.csv", "functions.csv", "functions-wide.csv", "summary.txt"):
                name = f"--cat {path}" if path else "--ls runs"
                took, most = self.command("--cat" if path else "--ls", folder, "--", path or "runs")
                self.table.row(f"{count} runs: {name}", f"{seconds(took)} CPU", f"VmHWM {megabytes(most)}")
                self.table.growth(name, count, took)
        numbers = self.sizes((2000, 8, 800, 2000), (200000, 136, 40000, 80000))[-1]
        one, other = (self.make("make_hpctoolkit", f"runs-{name}", *numbers) for name in ("base", "new"))
        named = [f"base={one}", f"new={other}"]
        label = f"two databases, {numbers[0]} contexts, {numbers[1]} threads"
        for table in ("functions.csv", "contexts.csv"):
            alone, _ = self.command("--cat", one, table)
            both, most = self.command("--cat", *named, "--", "compare/new/" + table)
            self.table.row(f"{label}: compare/new/{table}, VmHWM {megabytes(most)}", f"{seconds(both)} CPU",
                           f"{table} of one {seconds(alone)} CPU", f"{both / alone:.2f}")
        self.goal(f"{label}: mount and compare/new/functions.csv", self.table_time(named, "compare/new/functions.csv"),
                  self.table_time([one], "functions.csv"), "functions.csv of one")

    def parquet(self):
        """DuckDB over the CSV and the Parquet of one trace: a group-by of all rows, and a hundredth of the time."""
        if not os.path.isdir(os.path.join(CLIENTS, "node_modules", "@duckdb")):
            print("  Parquet: not measured without `npm install` in tests/clients")
            return
        self.table.section("Parquet")
        samples = self.sizes(60000, 6000000)[-1]
        source = self.make("make_hpctoolkit", f"hpctoolkit-columns{samples}", 20000, 1, 2000, samples)
        begin, end = 5000000 * samples // 2, 5000000 * (samples // 2 + samples // 100)  # a sample takes 5 ms
        trace = "threads/node=0/rank=0/thread=0/trace"
        tables = {"csv": "read_csv('{}', header = true)", "parquet": "read_parquet('{}')"}
        for what, query in (("sum by function", "select function, sum(duration_ns) from {} group by function order by 1"),
                            ("a hundredth of the time", "select count(*), sum(duration_ns) from {} where time_ns "
                             f"between {begin} and {end}")):
            took, answers = {}, set()
            for form, table in tables.items():
                with self.mounted(source) as (point, pid):
                    path = f"{point}/{trace}.{form}"
                    os.stat(path)
                    for state in ("cold", "warm"):
                        took[form, state], cpu, n, answer = self.duckdb(query.format(table.format(path)), pid)
                        answers.add(answer)
                        base = took["csv", state]
                        self.table.row(f"{samples / 1e6:g} M samples: {what}, .{form}, {state}: {cpu:.2f} s CPU, {megabytes(n)} read",
                                       seconds(took[form, state]), *(("", "") if form == "csv" else
                                                                     (f".csv {seconds(base)}", f"{took[form, state] / base:.2f}")))
            if len(answers) != 1:
                raise SystemExit(f"{what}: CSV and Parquet differ")


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--profmount", default=os.path.join(ROOT, "build-release/fs/profmount"))
    p.add_argument("--makers", default=os.path.join(ROOT, "build-release/tests/bench"))
    p.add_argument("--work", default="/tmp/profmount-bench")
    p.add_argument("--only", default="", help="one format, filters, json, texts, recordings, wide_trees, runs, or parquet")
    amount = p.add_mutually_exclusive_group()
    amount.add_argument("--small", action="store_true", help="only the smallest sources")
    amount.add_argument("--large", action="store_true", help="also sources of gigabytes")
    p.add_argument("--markdown", help="write the table there too")
    options = p.parse_args()
    bench = Bench(options)
    for section in (bench.hpctoolkit, bench.filters, bench.hpcrun, bench.nytprof, bench.zts, bench.htdump,
                    bench.json, bench.texts, bench.recordings, bench.wide_trees, bench.runs, bench.parquet):
        if options.only in ("", section.__name__):
            print(f"  ({section.__name__}: {seconds(timed(section))} in all)")
            if options.large:
                bench.forget()
    if options.markdown:
        with open(options.markdown, "w", encoding="utf-8") as f:
            f.write(bench.table.markdown())
        if bench.curves:
            with open(os.path.join(os.path.dirname(options.markdown), CURVES), "w", encoding="utf-8") as f:
                f.write(draw(bench.curves, "call paths", "CPU time of a call, ns"))


if __name__ == "__main__":
    sys.exit(main())
