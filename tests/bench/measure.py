"""The measurements that can be made of any source, and the table of results; run.py chooses the sources."""
import concurrent.futures
import contextlib
import csv
import json
import os
import platform
import resource
import shutil
import subprocess
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
CLIENTS = os.path.join(os.path.dirname(HERE), "clients")
TMPFS = "/dev/shm"
CURVES = "performance-paths.svg"
RUNS = 3
LOOKUPS = 1000
WIDE = (1000, 10000, 100000, 1000000)  # call paths

INTRODUCTION = """# Performance

Written by `tests/bench/run.py --large --markdown docs/performance.md`, which creates the sources (`ninja bench`), mounts them,
and measures each figure together with a baseline in the same run. Ratios are more meaningful than absolute figures.

- Sources are in the page cache. A figure is the best of three runs, except for what happens only once in a mount (cold, first).
- "Mount ready" is the time until the command returns. Answers include it.
- "Growth" compares a figure with the same figure of the smaller source above it, and with the growth of the source: 1 means
  proportional, less is better.
- Reading is compared with the same bytes on tmpfs; a scan with `cat` of the source, or with zlib inflating it without doing
  anything else; file system work with an extracted copy on tmpfs, with client and process pinned to one processor.
- "Out of memory" is the copy behind FUSE, served from memory by a process that does nothing else
  (tests/bench/serve_memory.c). The protocol requires two READDIRPLUS requests per directory and a READ per file, so no
  user-space file system can be faster when cold. Of the time of a cold walk of a profmount mount, four fifths are spent in
  the kernel, half of the total on putting process and client to sleep and waking them; a tenth is spent on checking whether
  the source has changed.
- Wide call trees: calls of 2000 functions by Zipf's law, up to 30 deep, each path at least once. The total CPU time of
  `profmount --cat SOURCE functions.csv` is divided by the number of calls; the ratio compares with 1000 paths. Making the
  tree is part of this time, so a fair source has at least 12 calls per path: those of `--large` have 15 to 25 for each of
  1,000,000 paths. Smaller ones overstate the ratio (NYTProf: 3.2 with 3 calls per path, 2.1 with 15).
  Memory of a path is that of 1,000,000 paths less that of 1000; its ratio is bytes of a path and quantity. Answers are elapsed,
  mounting included, beside what only reads or inflates the same bytes; their ratio is that of the times.
- Filters: `exchange_*` is a quarter of the functions, `exchange_79` one of many. A table of a filter includes the one that it is
  compared with: everything is read, filtered, and added up again. With `hide` and `from`, call paths become one.
- Several runs: HTDUMP streams of 20 functions (2 kB each), and two HPCToolkit databases of one program; without a mount, user and
  system time of the whole command. A peak of less than 25 MB is that of the program that measures.
- Parquet: elapsed times of DuckDB, of which its start is 0.4 s; CPU time of the mount, and bytes that it answered. Cold: the first
  query of a mount. Only pages of the columns that a query names are read, and the kernel's readahead.
- Private memory is RssAnon. VmHWM includes the mapped pages of the source, which the kernel can reclaim at any time.
"""


def machine():
    with open("/proc/cpuinfo", encoding="utf-8") as f:
        model = next((line.split(":", 1)[1].strip() for line in f if line.startswith("model name")), platform.machine())
    pages = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    return f"{model}, {os.cpu_count()} processors, {pages / 1e9:.0f} GB, Linux {platform.release()}"


class Table:
    """Rows of what | figure | baseline | ratio, printed as they come and kept for the documents."""

    def __init__(self):
        self.sections = []
        self.before = {}  # in this section: what → (size of the source, figure)

    def section(self, title):
        print(f"\n{title}")
        self.sections.append((title, []))
        self.before = {}

    def row(self, what, figure, baseline="", ratio=""):
        print(f"  {what:58} {figure:>14} {baseline:>24} {ratio:>8}")
        self.sections[-1][1].append((what, figure, baseline, ratio))

    def growth(self, what, n, figure):
        """How the figure grew with the source, if there was a smaller one of `n` bytes, rows or entries."""
        n_before, before = self.before.get(what, (0, 0))
        self.before[what] = (n, figure)
        if before:
            self.row(f"growth of {what}", f"x {figure / before:.1f}", f"source x {n / n_before:.1f}",
                     f"{figure / before / (n / n_before):.2f}")

    def markdown(self):
        out = [INTRODUCTION, f"Machine: {machine()}.", f"\n![CPU time of a call over the number of call paths]({CURVES})"]
        for title, rows in self.sections:
            out += [f"\n## {title}\n", "| what | figure | baseline | ratio |", "|---|---:|---:|---:|"]
            out += ["| " + " | ".join(row) + " |" for row in rows]
        return "\n".join(out) + "\n"


def seconds(s):
    return f"{s * 1e3:.1f} ms" if s < 1 else f"{s:.2f} s"


def rate(n, s):
    return f"{n / s / 1e6:.0f} MB/s"


def megabytes(n):
    return f"{n / 1e6:.0f} MB"


def timed(function, *args):
    start = time.perf_counter()
    function(*args)
    return time.perf_counter() - start


def best(function, *args, runs=RUNS):
    return min(timed(function, *args) for _ in range(runs))


def read_all(path):
    with open(path, "rb", buffering=0) as f:
        while f.read(1 << 17):
            pass


def shell(command, cwd=None, cpu=None):
    words = (["taskset", "-c", str(cpu)] if cpu is not None else []) + ["sh", "-c", command]
    subprocess.run(words, cwd=cwd, check=True, stdout=subprocess.DEVNULL)


def size(path):
    if os.path.isfile(path):
        return os.path.getsize(path)
    return sum(os.path.getsize(os.path.join(d, n)) for d, _, names in os.walk(path) for n in names)


class Measure:
    def __init__(self, options):
        self.profmount = os.path.abspath(options.profmount)
        self.makers = os.path.abspath(options.makers)
        self.work = options.work
        self.serve_memory = os.path.join(self.makers, "serve_memory")
        self.count = 1 if options.small else 3 if options.large else 2
        self.made = set()
        self.table = Table()
        self.curves = {}  # format → [(paths, ns of a call)]
        os.makedirs(self.work, exist_ok=True)

    def sizes(self, *all_sizes):
        """Of the sizes given, smallest first, those to measure."""
        return all_sizes[:self.count]

    def make(self, maker, name, *args):
        """A source, made once; in the page cache afterwards."""
        path = os.path.join(self.work, name)
        self.made.add(path)
        if not os.path.exists(path):
            subprocess.run([os.path.join(self.makers, maker), path + ".part", *map(str, args)], check=True)
            os.rename(path + ".part", path)
        for folder, _, names in os.walk(path) if os.path.isdir(path) else [(self.work, [], [name])]:
            for n in names:
                shell(f"cat '{os.path.join(folder, n)}' >/dev/null")
        return path

    def forget(self):
        """Deletes the sources that were made; the largest of all formats do not fit on a disk together."""
        for path in self.made:
            shutil.rmtree(path) if os.path.isdir(path) else os.unlink(path)
        self.made = set()

    @contextlib.contextmanager
    def mounted(self, source, cpu=None, server=None):
        """Yields (mountpoint, process id)."""
        point = tempfile.mkdtemp(prefix="mnt-", dir=self.work)
        words = ["taskset", "-c", str(cpu)] if cpu is not None else []
        process = subprocess.Popen([*words, *(server or [self.profmount, "-f"]), source, point])
        while not os.path.ismount(point):
            if process.poll() is not None:
                raise SystemExit(f"{source}: not mounted")
            time.sleep(0.0005)
        try:
            yield point, process.pid
        finally:
            subprocess.run(["fusermount3", "-u", point], check=True)
            process.wait()
            os.rmdir(point)

    def mount_time(self, source):
        """Seconds until the command returns and the mount is ready."""
        def once():
            point = tempfile.mkdtemp(prefix="mnt-", dir=self.work)
            took = timed(lambda: subprocess.run([self.profmount, source, point], check=True))
            subprocess.run(["fusermount3", "-u", point], check=True)
            os.rmdir(point)
            return took
        return min(once() for _ in range(RUNS))

    def memory(self, pid):
        """Private memory now, and the peak of resident memory, which includes mapped pages of the source."""
        with open(f"/proc/{pid}/status", encoding="ascii") as f:
            fields = dict(line.split(":", 1) for line in f)
        return tuple(int(fields[name].split()[0]) * 1024 for name in ("RssAnon", "VmHWM"))

    # ---- what every format is asked ----

    def opening(self, title, source, baseline="", base=0.0, inflated=0):
        """Mount ready; answer, as a rate too where all of the source (`inflated` bytes) is read for it; memory."""
        took = self.mount_time(source)
        n = size(source)
        self.table.row(f"{title}: mount ready", seconds(took))
        answer = self.first_answer(title, source)
        if base:
            scanned = inflated or n
            self.table.row(f"{title}: the scan for it", rate(scanned, answer), f"{baseline} {rate(scanned, base)}",
                           f"{base / answer:.2f}")
        with self.mounted(source) as (point, pid):
            shell(f"cat {point}/*.csv")
            private, most = self.memory(pid)
        self.table.row(f"{title}: private memory after all tables", megabytes(private), f"VmHWM {megabytes(most)}")
        for what, figure in (("mount ready", took), ("the first answer", answer), ("private memory", private)):
            self.table.growth(f"{what}, deflated" if inflated else what, n, figure)
        return answer

    def first_answer(self, title, source):
        """Seconds for the mount and the ten most expensive functions."""
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
        return took

    def report(self, title, source):
        """What a browser reads for the first view of report.html; the cards of threads and damage come later."""
        parts = ("report.html", "report/start.js", "report/functions-0-1.js")
        def once():
            with self.mounted(source) as (point, _):
                return timed(lambda: [read_all(os.path.join(point, part)) for part in parts])
        took = min(once() for _ in range(RUNS))
        with self.mounted(source) as (point, _):
            n = sum(os.path.getsize(os.path.join(point, part)) for part in parts)
        self.table.row(f"{title}: first view of report.html", seconds(took), f"{n / 1e3:.0f} kB read")
        self.table.growth("the first view of report.html", size(source), took)
        self.browser(title, source, took)

    def browser(self, title, source, reading):
        """The same in Chromium, then what its reader does; `reading` is what the mount takes of the first view."""
        chromium = shutil.which("chromium")
        if not chromium or not os.path.isdir(os.path.join(CLIENTS, "node_modules", "puppeteer-core")):
            print("  report.html in a browser: not measured without chromium and `npm install` in tests/clients")
            return
        with self.mounted(source) as (point, _):
            said = subprocess.run(["node", os.path.join(HERE, "browser.mjs"), chromium, point], check=True, stdout=subprocess.PIPE)
        shown = json.loads(said.stdout)
        actions = shown["actions"]

        def slowest(*words):
            return max((took, what) for what, took in actions.items() if any(word in what for word in words))
        self.table.row(f"{title}: report.html, first view in Chromium", seconds(shown["firstView"]),
                       f"the mount {seconds(reading)}", f"{reading / shown['firstView']:.2f}")
        self.table.row(f"{title}: report.html, all of the overview", seconds(shown["whole"]), f"{shown['bytes'] / 1e3:.0f} kB read")
        for what, words in (("data to be rendered", ("zoom", "move")), ("data at hand", ("again", "sort", "search"))):
            took, action = slowest(*words)
            self.table.row(f"{title}: report.html, slowest action with {what}", seconds(took), action)
        self.table.row(f"{title}: report.html, private memory of the tab after all views", megabytes(shown["memory"]),
                       f"JavaScript {megabytes(shown['heap'])}")

    def exports(self, title, source, names):
        """The cost of exports once the profile has been read, each in a mount of its own."""
        for name in names:
            with self.mounted(source) as (point, pid):
                read_all(os.path.join(point, "functions.csv"))
                before, _ = self.memory(pid)
                path = os.path.join(point, "export", name)
                took = timed(os.stat, path)
                more = self.memory(pid)[0] - before
                self.table.row(f"{title}: export/{name}", seconds(took),
                               f"{megabytes(os.path.getsize(path))}, memory +{megabytes(more)}")
            self.table.growth(f"export/{name}", size(source), took)

    def wide(self, title, make):
        """The cost of a call in sources of equal size with few to many call paths; make(paths) returns the source."""
        curve = self.curves[title] = []
        wide = WIDE[:2 if self.count == 1 else None]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(make, wide))
        for paths in wide:
            took, calls = self.cost_of_calls(make(paths))
            curve.append((paths, took / calls * 1e9))
            self.table.row(f"{title}, {paths} call paths: CPU time of a call", f"{curve[-1][1]:.0f} ns",
                           f"{calls / 1e6:.1f} M calls in {seconds(took)}", f"{curve[-1][1] / curve[0][1]:.2f}")
        self.bytes_of_paths(title, make(WIDE[0]), make(curve[-1][0]))

    def goal(self, what, took, base, baseline, n=0):
        """Seconds beside those of a baseline; as a rate too for `n` bytes."""
        figure = f"{seconds(took)}, {rate(n, took)}" if n else seconds(took)
        self.table.row(what, figure, f"{baseline} {seconds(base)}", f"{took / base:.2f}")

    def command(self, *words):
        """CPU seconds, and the peak of resident memory, of a command that needs no mount."""
        def once():
            child = subprocess.Popen([self.profmount, *words], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
            if child.returncode != 0:
                raise SystemExit(f"{words}: exit {child.returncode}")
            return usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024
        return min(once() for _ in range(RUNS))

    def duckdb(self, query, pid):
        """Seconds, CPU seconds of the server, bytes that it answered, and the answer of a query."""
        def server():
            with open(f"/proc/{pid}/stat", encoding="utf-8") as f:
                ticks = f.read().rpartition(")")[2].split()[11:13]
            with open(f"/proc/{pid}/io", encoding="utf-8") as f:
                written = int(dict(line.split(": ") for line in f)["wchar"])
            return sum(map(int, ticks)) / os.sysconf("SC_CLK_TCK"), written
        before, begin = server(), time.perf_counter()
        said = subprocess.run(["node", os.path.join(CLIENTS, "duckdb.mjs"), query], check=True, stdout=subprocess.PIPE)
        took = time.perf_counter() - begin
        cpu, written = (now - then for now, then in zip(server(), before))
        return took, cpu, written, said.stdout

    def table_time(self, sources, name):
        """Mount, and one table; elapsed."""
        sources = [sources] if isinstance(sources, str) else sources

        def once():
            point = tempfile.mkdtemp(prefix="mnt-", dir=self.work)
            took = timed(lambda: (subprocess.run([self.profmount, *sources, point], check=True),
                                  read_all(os.path.join(point, name))))
            subprocess.run(["fusermount3", "-u", point], check=True)
            os.rmdir(point)
            return took
        return min(once() for _ in range(RUNS))

    def bytes_of_paths(self, title, few, many):
        """Private memory after functions.csv, of each path that one source has more than the other, and quantity."""
        def of(source):
            with self.mounted(source) as (point, pid):
                read_all(f"{point}/functions.csv")
                with open(f"{point}/info.json", encoding="utf-8") as f:
                    info = json.load(f)
                return self.memory(pid)[0], info["contexts"], info["metrics"]
        (least, n_few, _), (most, n_many, quantities) = of(few), of(many)
        each = (most - least) / (n_many - n_few)
        self.table.row(f"{title}: private memory of a path", f"{each:.0f} bytes", f"{quantities} quantities", f"{each / quantities:.0f}")

    def cost_of_calls(self, source):
        """CPU seconds to read all of a source, and how many calls there are in it."""
        def once():
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            with open(f"{self.work}/calls.csv", "wb") as f:
                subprocess.run([self.profmount, "--cat", source, "functions.csv"], check=True, stdout=f)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        took = min(once() for _ in range(RUNS))
        with open(f"{self.work}/calls.csv", encoding="utf-8", newline="") as f:
            return took, sum(float(row["calls"] or 0) for row in csv.DictReader(f))

    def reading(self, title, source, name):
        """First and second reading of one file, against tmpfs; how long the first stat took."""
        with self.mounted(source) as (point, _):
            path = os.path.join(point, name)
            first_stat = timed(os.stat, path)
            n = os.stat(path).st_size
            tail = best(shell, f"tail -c 1000 '{path}'")
            first = timed(read_all, path)
            second = best(read_all, path)
            copy = os.path.join(TMPFS, "profmount-bench-copy")
            shutil.copyfile(path, copy)
        base = best(read_all, copy)
        os.unlink(copy)
        self.table.row(f"{title} ({n / 1e6:.0f} MB): first stat", seconds(first_stat))
        self.table.row(f"{title}: tail -c 1000 after it", seconds(tail))
        self.table.row(f"{title}: first reading after it", rate(n, first), f"tmpfs {rate(n, base)}", f"{base / first:.2f}")
        self.table.row(f"{title}: second reading", rate(n, second), f"tmpfs {rate(n, base)}", f"{base / second:.2f}")
        return first_stat

    def windows(self, title, source):
        """Windows before and after the traces were read once, against what reading them takes."""
        def inside(point, start, end):
            read_all(f"{point}/windows/{start}ns-{end}ns/functions.csv")
        said = subprocess.run([self.profmount, "--cat", source, "info.json"], check=True, stdout=subprocess.PIPE)
        run_ns = json.loads(said.stdout)["duration_ns"]
        edges = [run_ns * i // 10 for i in range(11)]
        with self.mounted(source) as (point, _):
            read_all(f"{point}/functions.csv")
            alone = timed(inside, point, edges[3], edges[4])
        with self.mounted(source) as (point, pid):
            read_all(f"{point}/functions.csv")
            private, _ = self.memory(pid)
            traces = []
            if os.path.exists(f"{point}/threads.csv"):
                with open(f"{point}/threads.csv", encoding="utf-8", newline="") as f:
                    traces = [f"{point}/{row['path']}/trace.csv" for row in csv.DictReader(f) if row["samples"]]
            measured = timed(lambda: [os.stat(path) for path in traces])
            first = timed(inside, point, edges[3], edges[4])
            following = [timed(inside, point, start, end) for start, end in zip(edges, edges[1:])]
            whole = timed(inside, point, 0, run_ns)
            more = self.memory(pid)[0] - private
        self.table.row(f"{title}: first window, traces not read before", seconds(alone))
        if traces:
            self.table.row(f"{title}: first window after stat of all trace.csv", seconds(first),
                           f"stat of all {seconds(measured)}", f"{measured / first:.1f}")
        self.table.row(f"{title}: next windows, slowest of ten", seconds(max(following)), f"first {seconds(alone)}",
                       f"{alone / max(following):.1f}")
        self.table.row(f"{title}: the whole run as a window", seconds(whole), f"first {seconds(alone)}", f"{alone / whole:.1f}")
        self.table.row(f"{title}: private memory of all this", f"+{megabytes(more)}", f"source {megabytes(size(source))}",
                       f"{more / size(source):.3f}")

    def lookups(self, title, source):
        """First lookups of names in a directory with as many entries as there are contexts."""
        with self.mounted(source) as (point, _):
            folder = os.path.join(point, "by-id")
            names = os.listdir(folder)
        with self.mounted(source) as (point, _):
            paths = [os.path.join(point, "by-id", name) for name in names[1::max(len(names) // LOOKUPS, 1)]]
            os.stat(os.path.join(point, "by-id", names[0]))
            took = timed(lambda: [os.stat(path) for path in paths]) / len(paths)
        self.table.row(f"{title}: lookup among {len(names)} entries", f"{took * 1e6:.1f} µs")
        self.table.growth("a lookup", len(names), took)

    def walks(self, source):
        """The same commands on the mount and on its extracted copy in tmpfs, pinned to one processor."""
        copy = tempfile.mkdtemp(prefix="profmount-bench-", dir=TMPFS)
        subprocess.run([self.profmount, "-o", "max=8G", "--extract", source, copy], check=True)
        entries = sum(len(d) + len(f) for _, d, f in os.walk(copy))
        commands = (("find", "find . -type d", entries), ("ls -l of by-id/", "ls -lU by-id", None),
                    ("small files (cat of every metric)", "find contexts -path '*/metrics/*' -print0 | xargs -0 cat", None),
                    ("grep -r over metrics", "grep -r --include='*_incl' -c . contexts", None))
        for title, command, _ in commands:
            base = best(shell, command, copy, 0)
            with self.mounted(copy, cpu=0, server=[self.serve_memory]) as (point, _):
                bound = timed(shell, command, point, 0)
            with self.mounted(source, cpu=0) as (point, _):
                cold = timed(shell, command, point, 0)
                warm = best(shell, command, point, 0)
            self.table.row(f"{title}: cold", seconds(cold), f"tmpfs {seconds(base)}", f"{base / cold:.2f}")
            self.table.row(f"{title}: cold, out of memory", seconds(bound), f"tmpfs {seconds(base)}", f"{base / bound:.2f}")
            self.table.row(f"{title}: warm", seconds(warm), f"tmpfs {seconds(base)}", f"{base / warm:.2f}")
        shutil.rmtree(copy)
