"""Sources on a file system that can fail or delay reads: BROKEN_FS.

    test_NAME.py PROFMOUNT SOURCE CONFINEMENT MAKERS BROKEN_FS
"""
import contextlib
import os
import subprocess
import sys
import tempfile

import sources
from mounts import SECONDS, is_mounted, unmount, wait_until, walk

MAKERS, BROKEN_FS = (os.path.abspath(p) for p in sys.argv[4:6])
PAGE = 4096


class Below:
    """A source on a file system that can fail reads."""

    def __init__(self, folder, path, control):
        self.whole, self.control = path, control
        self.path = os.path.join(folder, os.path.basename(path))
        base = path if os.path.isdir(path) else os.path.dirname(path)
        self.files = [os.path.relpath(p, os.path.dirname(path)) for p in (walk(path) if os.path.isdir(path) else [path])
                      if os.path.isfile(p)]
        assert self.files, base

    def break_pages(self, pages_of):
        """Breaks the pages [from, to) that pages_of(number of pages) gives, of each file."""
        self.tell(pages_of, self.files, "breaks")

    def forget_files(self):
        """No file can be opened or read any more: ESTALE."""
        self.tell(lambda n: (0, n), self.files, "stale")

    def close_gate(self, *ends):
        """Reads of files with such an ending wait until the gate is opened."""
        self.tell(lambda n: (0, n), [f for f in self.files if f.endswith(ends)], "waits")

    def lag(self):
        """Every read of a page is delayed."""
        self.tell(lambda n: (0, n), self.files, "lags")

    def pages(self):
        return sum(-(-os.path.getsize(os.path.join(os.path.dirname(self.whole), f)) // PAGE) for f in self.files)

    def pages_read(self):
        return os.path.getsize(self.control + ".reads")

    def open_gate(self):
        self.tell(None, [], "waits")

    def tell(self, pages_of, files, what):
        with open(self.control + ".new", "w", encoding="utf-8") as f:
            for name in files:
                n = -(-os.path.getsize(os.path.join(os.path.dirname(self.whole), name)) // PAGE)
                first, last = pages_of(n)
                f.write(f"{name} {first * PAGE} {last * PAGE} {what}\n")
        os.rename(self.control + ".new", self.control)


@contextlib.contextmanager
def below(name):
    with tempfile.TemporaryDirectory(prefix="profmount-test-") as folder:
        whole, point, control = (os.path.join(folder, n) for n in ("whole", "point", "control"))
        os.mkdir(whole)
        os.mkdir(point)
        source = Below(point, sources.make(MAKERS, name, whole), control)
        process = subprocess.Popen([BROKEN_FS, whole, point, control], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            assert wait_until(lambda: is_mounted(point) or process.poll() is not None)
            yield source
        finally:
            source.open_gate()  # who is killed in front of it stays, and so does the file system
            unmount(point)
            process.terminate()
            process.wait(SECONDS)
