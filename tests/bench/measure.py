"""What is measured of any source, and the table in which it stands; run.py says of which."""
import contextlib
import os
import platform
import shutil
import subprocess
import tempfile
import time

TMPFS = "/dev/shm"
RUNS = 3

INTRODUCTION = """# Performance

Written by `tests/bench/run.py --markdown docs/performance.md`, which makes its sources (`ninja bench`), mounts them, and
measures each figure beside a baseline of the same run; ratios count, absolute figures orient.

- Sources lie in the page cache. A figure is the best of three runs, but for what happens only once in a mount (cold, first).
- "Mount ready" is from the command to its return. An answer includes it.
- Reading is compared with the same bytes on tmpfs; a scan with `cat` of the source, or with zlib inflating it and doing
  nothing else; file system work with an extracted copy on tmpfs, client and process pinned to one processor.
- Private memory is RssAnon. VmHWM has the mapped pages of the source in it, which the kernel takes back when it needs them.
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

    def section(self, title):
        print(f"\n{title}")
        self.sections.append((title, []))

    def row(self, what, figure, baseline="", ratio=""):
        print(f"  {what:58} {figure:>14} {baseline:>24} {ratio:>8}")
        self.sections[-1][1].append((what, figure, baseline, ratio))

    def markdown(self):
        out = [INTRODUCTION, f"Machine: {machine()}."]
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
        self.count = 1 if options.small else 3 if options.large else 2
        self.table = Table()
        os.makedirs(self.work, exist_ok=True)

    def sizes(self, *all_sizes):
        """Of what is given, small to large, those to measure."""
        return all_sizes[:self.count]

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
        """From the command to the moment at which it returns, the mount being ready."""
        def once():
            point = tempfile.mkdtemp(prefix="mnt-", dir=self.work)
            took = timed(lambda: subprocess.run([self.profmount, source, point], check=True))
            subprocess.run(["fusermount3", "-u", point], check=True)
            os.rmdir(point)
            return took
        return min(once() for _ in range(RUNS))

    def memory(self, pid):
        """Private memory now, and the most there was in memory, with mapped pages of the source."""
        with open(f"/proc/{pid}/status", encoding="ascii") as f:
            fields = dict(line.split(":", 1) for line in f)
        return tuple(int(fields[name].split()[0]) * 1024 for name in ("RssAnon", "VmHWM"))

    # ---- what every format is asked ----

    def opening(self, title, source, baseline="", base=0.0, inflated=0):
        """Mount ready, as a rate too where it scans the source (`inflated` bytes); answer; memory."""
        took = self.mount_time(source)
        self.table.row(f"{title}: mount ready", seconds(took))
        if base:
            n = inflated or size(source)
            self.table.row(f"{title}: the scan in it", rate(n, took), f"{baseline} {rate(n, base)}", f"{base / took:.2f}")
        self.first_answer(title, source)
        with self.mounted(source) as (point, pid):
            shell(f"cat {point}/*.csv")
            private, most = self.memory(pid)
        self.table.row(f"{title}: private memory after all tables", megabytes(private), f"VmHWM {megabytes(most)}")

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
