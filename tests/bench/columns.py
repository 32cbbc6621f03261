#!/usr/bin/env python3
"""DuckDB over the CSV and the Parquet of one trace in the same mount: never a test.

    columns.py PROFMOUNT MAKERS [--samples N] [--work FOLDER]

A group-by over all rows, and a window of a hundredth of the time, each with a new mount (cold) and again (warm: the kernel has
the pages). Prints for each the time of DuckDB's process and of the server (user and system CPU), and the bytes that the server
answered, by /proc/PID/io. Then the cost of stat, and of `find`, `ls -lR` and `grep -r` of the whole mount.
Needs @duckdb/node-api in tests/clients/node_modules, and root or fusermount3.
"""
import argparse
import contextlib
import os
import subprocess
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
DUCKDB = os.path.join(HERE, "../clients/duckdb.mjs")
TRACE = "threads/node=0/rank=0/thread=0/trace"
GROUP = "select function, sum(duration_ns) from {} group by function order by 1"
WINDOW = "select count(*), sum(duration_ns) from {} where time_ns between {} and {}"


class Server:
    def __init__(self, pid):
        self.pid = pid

    def cpu(self):
        with open(f"/proc/{self.pid}/stat", encoding="utf-8") as file:
            user, system = file.read().rpartition(")")[2].split()[11:13]
        return (int(user) + int(system)) / os.sysconf("SC_CLK_TCK")

    def written(self):
        with open(f"/proc/{self.pid}/io", encoding="utf-8") as file:
            return int(dict(line.split(": ") for line in file)["wchar"])


@contextlib.contextmanager
def mounted(profmount, source):
    point = tempfile.mkdtemp(prefix="profmount-bench-")
    process = subprocess.Popen([profmount, "-f", "-o", "cache=1G", source, point], stdin=subprocess.DEVNULL)
    try:
        while not os.path.ismount(point):
            time.sleep(0.01)
        os.listdir(point)
        time.sleep(1)  # what is read in the background
        yield point, Server(process.pid)
    finally:
        subprocess.run(["fusermount3", "-u", point], check=True)
        process.wait()
        os.rmdir(point)


def measure(words, server, what):
    """Runs a command; prints seconds, CPU of both sides, and bytes answered."""
    cpu, written, begin = server.cpu(), server.written(), time.monotonic()
    child = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    said = child.stdout.read()
    _, _, usage = os.wait4(child.pid, 0)
    child.returncode = 0
    took, mine = time.monotonic() - begin, usage.ru_utime + usage.ru_stime
    print(f"{what:34} {took:7.2f} s  client {mine:6.2f} s  server {server.cpu() - cpu:6.2f} s  "
          f"{(server.written() - written) / 1e6:8.1f} MB", flush=True)
    return took, said


def tables(point):
    return {"CSV": f"read_csv('{point}/{TRACE}.csv', header = true)", "Parquet": f"read_parquet('{point}/{TRACE}.parquet')"}


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("profmount", type=os.path.abspath)
    p.add_argument("makers", type=os.path.abspath)
    p.add_argument("--samples", type=int, default=6000000)
    p.add_argument("--work", default="/tmp/profmount-bench")
    a = p.parse_args()
    source = os.path.join(a.work, f"columns-{a.samples}")
    if not os.path.exists(source):
        os.makedirs(a.work, exist_ok=True)
        subprocess.run([os.path.join(a.makers, "make_hpctoolkit"), source, "20000", "1", "2000", str(a.samples)], check=True)
    with mounted(a.profmount, source) as (_, server):
        idle, _ = measure(["node", DUCKDB, "select 1"], server, "DuckDB alone")
    with mounted(a.profmount, source) as (point, server):
        measure(["stat", "-c", "%s", f"{point}/{TRACE}.parquet"], server, "stat trace.parquet")
        measure(["stat", "-c", "%s", f"{point}/{TRACE}.csv"], server, "stat trace.csv")
    begin, end = 5000000 * a.samples // 2, 5000000 * (a.samples // 2 + a.samples // 100)  # a sample takes 5 ms
    for name, query in (("group-by", GROUP), ("window", WINDOW)):
        seconds, answers = {}, set()
        for form in ("CSV", "Parquet"):
            with mounted(a.profmount, source) as (point, server):
                for state in ("cold", "warm"):
                    took, said = measure(["node", DUCKDB, query.format(tables(point)[form], begin, end)], server,
                                         f"{name}, {form}, {state}")
                    seconds[form, state] = took - idle
                    answers.add(said)
        assert len(answers) == 1, f"{name}: CSV and Parquet differ"
        for state in ("cold", "warm"):
            print(f"{name}, {state}: {seconds['CSV', state] / max(seconds['Parquet', state], 0.01):.1f} times as fast, DuckDB's start aside")
    for words in (["find", "{}"], ["ls", "-lR", "{}"], ["grep", "-rc", "nosuchtext", "{}"]):
        with mounted(a.profmount, source) as (point, server):
            measure([word.format(point) for word in words], server, words[0] + " of the mount")


if __name__ == "__main__":
    main()
