#!/usr/bin/env python3
"""What stands in a source's folder in the place of files, or beside them, is never waited for and leads nowhere: pipes,
sockets, devices, folders, links.

    test_folders.py PROFMOUNT SOURCES SAMPLE

SOURCES is the folder of small sources of each format, SAMPLE a database with source files.
"""
import glob
import os
import shutil
import socket
import stat
import subprocess
import sys
import tempfile
import unittest

PROFMOUNT, SOURCES, SAMPLE = (os.path.abspath(p) for p in sys.argv[1:4])
SECONDS = 30  # nothing here takes one; whoever waits longer hangs
SECRET = b"what stands outside\n"


def run(*args):
    return subprocess.run([PROFMOUNT, *args], stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS)


def make_socket(path):
    listener, here = socket.socket(socket.AF_UNIX), os.getcwd()
    os.chdir(os.path.dirname(path))  # a socket's path is short
    try:
        listener.bind(os.path.basename(path))
    finally:
        os.chdir(here)
        listener.close()


def make_device(path):
    try:
        os.mknod(path, stat.S_IFCHR | 0o600, os.makedev(1, 5))  # /dev/zero: has no end
    except PermissionError:
        os.symlink("/dev/zero", path)


def make_link_to_pipe(path):
    os.mkfifo(path + ".pipe")
    os.symlink(os.path.basename(path) + ".pipe", path)


KINDS = {
    "pipe": os.mkfifo,
    "socket": make_socket,
    "device": make_device,
    "folder": os.mkdir,
    "link to itself": lambda path: os.symlink(os.path.basename(path), path),
    "link to nothing": lambda path: os.symlink("nothing", path),
    "link to a pipe": make_link_to_pipe,
    "link to a terminal": lambda path: os.symlink("/dev/tty", path),
}


def files_below(folder):
    return sorted(os.path.relpath(os.path.join(d, n), folder) for d, _, names in os.walk(folder) for n in names)


class Folders(unittest.TestCase):
    def test_nothing_in_the_place_of_a_file_is_waited_for(self):
        sources = [p for p in glob.glob(os.path.join(SOURCES, "*")) if os.path.isdir(p)] + [SAMPLE]
        self.assertGreater(len(sources), 5)
        for source in sources:
            for name in files_below(source)[:12]:
                for kind, make in KINDS.items():
                    with self.subTest(source=os.path.basename(source), name=name, kind=kind), \
                            tempfile.TemporaryDirectory(prefix="profmount-test-") as folder:
                        copy = os.path.join(folder, "source")
                        shutil.copytree(source, copy)
                        os.unlink(os.path.join(copy, name))
                        make(os.path.join(copy, name))
                        done = run("--check", copy)
                        self.assertIn(done.returncode, (0, 1, 2))

    def test_what_stands_beside_the_files_is_not_waited_for(self):
        # Where measurements keep programs' structure and the kernel's symbols, and databases their metrics.
        names = ("structs", "kernel_symbols", "src", "metrics", "logs", "000000", "x.hpcrun", "x.hpctrace", "text-00000009.wal",
                 "text-00000009.fmi", "nytprof.out.9", "meta.db.t", "qmeta.idx", "app.hpcstruct")
        for source in [p for p in glob.glob(os.path.join(SOURCES, "*")) if os.path.isdir(p)]:
            whole = run("--ls", source).stdout
            for kind, make in KINDS.items():
                with self.subTest(source=os.path.basename(source), kind=kind), \
                        tempfile.TemporaryDirectory(prefix="profmount-test-") as folder:
                    copy = os.path.join(folder, "source")
                    shutil.copytree(source, copy)
                    for name in names:
                        # These names alone make a folder one of measurements.
                        if name.startswith("x.") and "hpcrun" not in os.path.basename(source):
                            continue
                        if not os.path.lexists(os.path.join(copy, name)):
                            make(os.path.join(copy, name))
                    self.assertIn(run("--check", copy).returncode, (0, 1))
                    done = run("--ls", copy)
                    self.assertEqual(done.returncode, 0, done.stderr)
                    self.assertLessEqual(set(whole.splitlines()), set(done.stdout.splitlines()))

    def test_source_files_lead_nowhere_else(self):
        texts = [name for name in files_below(SAMPLE) if name.startswith("src/")]
        self.assertTrue(texts, "the sample has source files")
        for target in ("../../secret", "{folder}/secret", "../" * 12 + "{folder}/secret"):
            with tempfile.TemporaryDirectory(prefix="profmount-test-") as folder:
                copy = os.path.join(folder, "source")
                shutil.copytree(SAMPLE, copy)
                with open(os.path.join(folder, "secret"), "wb") as f:
                    f.write(SECRET)
                for name in texts:
                    os.unlink(os.path.join(copy, name))
                    up = "../" * name.count("/")
                    os.symlink(up + "../secret" if target == "../../secret" else target.format(folder=folder),
                               os.path.join(copy, name))
                out = os.path.join(folder, "out")
                run("--extract", copy, out, "source")
                for name in files_below(out):
                    with open(os.path.join(out, name), "rb") as f:
                        self.assertNotIn(SECRET.strip(), f.read(), name)

    def test_whole_folders_that_are_links_lead_nowhere_else(self):
        with tempfile.TemporaryDirectory(prefix="profmount-test-") as folder:
            copy, outside = os.path.join(folder, "source"), os.path.join(folder, "outside")
            shutil.copytree(SAMPLE, copy)
            shutil.copytree(os.path.join(copy, "src"), outside)
            for name in files_below(outside):
                with open(os.path.join(outside, name), "wb") as f:
                    f.write(SECRET)
            shutil.rmtree(os.path.join(copy, "src"))
            os.symlink("../outside", os.path.join(copy, "src"))
            out = os.path.join(folder, "out")
            run("--extract", copy, out, "source")
            for name in files_below(out):
                with open(os.path.join(out, name), "rb") as f:
                    self.assertNotIn(SECRET.strip(), f.read(), name)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
