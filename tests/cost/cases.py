"""Shared by run.py and damaged.py: writes costly cases (make_costly.c) and counts the work that they take (count.c)."""
import collections
import concurrent.futures
import os
import resource
import signal
import subprocess
import sys
import tempfile

# Less work than that is nobody's complaint: about 20 ms. It hides that tables of more than 64 KiB are measured before they
# are rendered, others not.
FREE = 5_000_000
# What is refused for its size, or bounded by a limit of its own, has nothing to compare.
LIMIT_SECONDS = 120  # on processors: others may be busy
AT_A_TIME = 2

# Cases of which only these documents are counted: others write out a name of a part of the source for each row.
PARQUET = ["functions.parquet", "contexts.parquet", "callers.parquet"]
ONLY = {
    "nytprof-giant-file": [*PARQUET, "lines.parquet", "raw/lines.parquet", "raw/subs.parquet"],
    "htdump-giant-name": [*PARQUET, "functions.csv", "timeline.parquet"],
    "hpcrun-giant-module": [*PARQUET, "modules.csv", "profiles.parquet"],
    "zts-giant-name": [*PARQUET, "functions.csv", "methods.csv", "traces.parquet", "attributes.parquet"],
}

# What count.c prints of a document; `unasked`: the most work in which nobody asked whether it is still wanted, `where` in it.
Counts = collections.namedtuple("Counts", "work own peak unasked where", defaults=(0, ""))


def counts_of(command):
    """The counts: name → Counts. Raises subprocess.TimeoutExpired."""
    out = {}
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        resource.prlimit(process.pid, resource.RLIMIT_CPU, (LIMIT_SECONDS, LIMIT_SECONDS + 10))
        stdout = process.stdout.read()
    if process.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
        raise subprocess.TimeoutExpired(command, LIMIT_SECONDS)
    if process.returncode != 0:
        raise subprocess.CalledProcessError(process.returncode, command)
    for line in stdout.decode(errors="replace").splitlines():
        work, own, peak, unasked, what = line.split(" ", 4)
        unasked, where = unasked.split("@")
        out[what] = Counts(int(work), int(own), int(peak), int(unasked), where)
    return out


class Case:
    """A case of make_costly with a folder for what is written."""

    def __init__(self, build, name, folder):
        self.make, self.count = (os.path.join(build, "tests", "cost", program) for program in ("make_costly", "count"))
        self.name, self.folder = name, folder

    def write(self, size):
        """The path of a source of about that many bytes."""
        path = os.path.join(self.folder, str(size))
        subprocess.run([self.make, self.name, str(size), path], check=True)
        return path

    def counts(self, path):
        return counts_of([self.count, path, *ONLY.get(self.name, ())])


def run(build, names, check):
    """Calls check(case) for the named cases, or all: it returns a remark and lines about what is wrong. Returns an exit status."""
    make = os.path.join(build, "tests", "cost", "make_costly")
    names = names or subprocess.run([make], capture_output=True, check=True).stdout.decode().split()
    failed = 0

    def one(name):
        with tempfile.TemporaryDirectory(prefix="profmount-test-") as folder:
            return name, *check(Case(build, name, folder))
    with concurrent.futures.ThreadPoolExecutor(AT_A_TIME) as pool:
        for name, remark, wrong in pool.map(one, names):
            print(f"{'FAIL' if wrong else 'ok  '} {name}{remark}")
            for line in wrong:
                print("     " + line)
            sys.stdout.flush()
            failed += bool(wrong)
    print(f"{len(names) - failed} passed, {failed} failed")
    return 1 if failed else 0
