"""Real mounts: shared by the tests of this folder.

    test_NAME.py PROFMOUNT SOURCE CONFINEMENT [MORE…]

CONFINEMENT is the confinement of the build: `none`, `landlock`, or `seccomp` (which is both). Each test ends with
exit 77 and a reason if this machine cannot mount.
"""
import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import can_mount  # noqa: E402

PROFMOUNT, SOURCE = (os.path.abspath(p) for p in sys.argv[1:3])
CONFINEMENT = sys.argv[3] if len(sys.argv) > 3 else "none"
SECONDS = 300  # whoever waits that long hangs, however busy the machine is


def run(*args, **more):
    return subprocess.run([PROFMOUNT, *args], stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS, **more)


def is_mounted(point):
    with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as f:
        return any(line.split(" ")[4] == point for line in f)


def wait_until(condition):
    until = time.time() + SECONDS
    while not condition():
        if time.time() >= until:
            return False
        time.sleep(0.02)
    return True


def slurp(path):
    with open(path, "rb") as f:
        return f.read()


def anonymous_bytes(process):
    with open(f"/proc/{process.pid}/status", encoding="utf-8") as f:
        return int(re.search(r"^RssAnon:\s*(\d+) kB$", f.read(), re.M).group(1)) << 10


def children(pid):
    try:
        with open(f"/proc/{pid}/task/{pid}/children", encoding="utf-8") as f:
            return [int(child) for child in f.read().split()]
    except (FileNotFoundError, ProcessLookupError):  # the latter if it ends between open and read
        return []


def is_running(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as f:
            return f.read().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def error_of(function, *args):
    try:
        function(*args)
    except OSError as e:
        return e.errno
    return 0


def walk(top):
    for folder, folders, files in os.walk(top):
        for name in folders + files:
            yield os.path.join(folder, name)


def unmount(point):
    """Unmounts lazily if it is mounted; it may be unmounted already."""
    done = subprocess.run(["fusermount3", "-u", "-z", point], capture_output=True) if is_mounted(point) else None
    assert not is_mounted(point), done.stderr.decode()


@contextlib.contextmanager
def mounted(*options, source=SOURCE):
    """A mountpoint with SOURCE mounted by a background process."""
    point = tempfile.mkdtemp(prefix="profmount-test-")
    done = run(*options, source, point)
    try:
        assert done.returncode == 0, done.stderr.decode()
        assert done.stderr == b"", done.stderr.decode()
        assert is_mounted(point), "profmount returned before the mount was ready"
        yield point
    finally:
        unmount(point)
        os.rmdir(point)


@contextlib.contextmanager
def served(*options, source=SOURCE):
    """The same in the foreground: yields the mountpoint and the process."""
    point = tempfile.mkdtemp(prefix="profmount-test-")
    process = subprocess.Popen([PROFMOUNT, "-f", *options, source, point], stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        assert wait_until(lambda: is_mounted(point) or process.poll() is not None)
        os.listdir(point)  # whoever answers has its signal handlers, and its keeper
        yield point, process
    finally:
        unmount(point)
        process.terminate()  # a copy of the mount in another namespace would keep it
        process.wait(SECONDS)
        process.stderr.close()
        os.rmdir(point)


def skip_where(why):
    """Skips this test if there is a reason."""
    if why:
        print(f"SKIPPED: {why}")
        sys.exit(77)


def main():
    skip_where(can_mount.why_not())
    signal.signal(signal.SIGINT, signal.default_int_handler)  # what runs in the background ignores it, and so do its children
    unittest.main(argv=sys.argv[:1], verbosity=2)
