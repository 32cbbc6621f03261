"""One program, measured by perf and by callgrind, and as pprof has it: the same function is first in all of them, and first
for the tools themselves.

    test_tools.py PROFMOUNT
"""
import csv
import io
import os
import shutil
import subprocess
import sys
import tempfile

profmount = sys.argv[1]
failures = 0
PROGRAM = r"""
#include <stdint.h>
volatile uint32_t sink;
__attribute__((noinline)) void hot(uint32_t n)
{
	for (uint32_t i = 0; i < 1000000; i++)
		sink = sink * 1664525 + n;
}
__attribute__((noinline)) void cold(uint32_t n)
{
	for (uint32_t i = 0; i < 100000; i++)
		sink = sink * 22695477 + n;
}
int main(int argc, char **argv)
{
	for (int i = 0; i < (argc > 1 ? 100 : 4); i++) {
		hot((uint32_t)i);
		cold((uint32_t)i);
	}
	return argv == 0;
}
"""


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)


def check(what, got, want):
    global failures
    if got != want:
        failures += 1
        print(f"FAILED: {what}\n  {got}\n  {want}")


def first(source):
    """The most expensive functions of a source."""
    table = list(csv.DictReader(io.StringIO(run(profmount, "--cat", source, "functions.csv").stdout)))
    return [row["name"] for row in table][:1]


def in_perf(program):
    """perf.data, or why there is none."""
    if not shutil.which("perf"):
        return "perf is missing: install linux-perf"
    done = run("perf", "record", "-q", "-e", "cpu-clock:u", "-F", "499", "-g", "-o", "perf.data", program, "long")
    if done.returncode != 0 or not os.path.exists("perf.data"):
        return "perf is not permitted here: " + (done.stderr.strip().splitlines() or ["it says nothing"])[-1]
    check("perf", first("perf.data"), ["hot"])
    report = [line.split()[-1] for line in run("perf", "report", "--stdio", "--no-children", "-g", "none", "-i", "perf.data",
                                               "-F", "overhead,sym").stdout.splitlines() if line.strip() and line[0] != "#"]
    check("perf report", report[:1], ["hot"])
    with open("perf.txt", "w", encoding="utf-8") as file:
        file.write(run("perf", "script", "-i", "perf.data").stdout)
    check("perf script", first("perf.txt"), ["hot"])
    with open("perf.pb.gz", "wb") as file:
        file.write(subprocess.run([profmount, "--cat", "perf.data", "export/profile.pb.gz"], capture_output=True, check=False).stdout)
    check("pprof", first("perf.pb.gz"), ["hot"])
    return None


def in_callgrind(program):
    if not shutil.which("valgrind"):
        return "valgrind is missing: install valgrind"
    done = run("valgrind", "-q", "--tool=callgrind", "--callgrind-out-file=callgrind.out", program)
    if done.returncode != 0:
        return "valgrind does not run here: " + (done.stderr.strip().splitlines() or ["it says nothing"])[-1]
    check("callgrind", first("callgrind.out"), ["hot"])
    annotated = [line.split(":")[-1].split()[0] for line in run("callgrind_annotate", "callgrind.out").stdout.splitlines()
                 if ":" in line and line.strip()[:1].isdigit()]
    check("callgrind_annotate", annotated[:1], ["hot"])
    return None


compiler = next((c for c in ("cc", "gcc", "clang") if shutil.which(c)), None)
if not compiler:
    print("SKIPPED: there is no compiler: install gcc")
    sys.exit(77)
profmount = os.path.abspath(profmount)
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    with open("program.c", "w", encoding="utf-8") as file:
        file.write(PROGRAM)
    subprocess.run([compiler, "-O1", "-g", "-fno-omit-frame-pointer", "-o", "program", "program.c"], check=True)
    why = [reason for reason in (in_perf("./program"), in_callgrind("./program")) if reason]
    os.chdir("/")
for reason in why:
    print("SKIPPED:", reason)
print(f"{failures} failures")
sys.exit(1 if failures else 77 if len(why) == 2 else 0)
