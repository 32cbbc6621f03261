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
SECONDS = 600  # nothing here takes one; whoever waits that long hangs, however busy the machine is
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
            if os.path.basename(source) in ("cpuprofiles", "callgrind.threads"):
                continue  # with anything beside its files, a folder of these is a folder of runs
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

class Symbols(unittest.TestCase):
    """What measurements take names from: structs/, vdso/, kernel_symbols/, gpubins/, and the files of load modules."""

    def setUp(self):
        self.undo = tempfile.TemporaryDirectory(prefix="profmount-test-")
        self.addCleanup(self.undo.cleanup)
        self.source, self.root = (os.path.join(self.undo.name, name) for name in ("source", "root"))
        shutil.copytree(os.path.join(SOURCES, "hpcrun"), self.source)
        os.makedirs(os.path.join(self.root, "usr/bin"))
        os.makedirs(os.path.join(self.root, "lib64"))

    def names(self, *options):
        """functions.csv without names of files beside the profiles, and with them."""
        done = run("-o", ",".join((f"sysroot={self.root}", *options)), "--cat", self.source, "functions.csv")
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_what_holds_names_is_not_waited_for(self):
        plain = self.names("symbols=no")
        for where in ("structs/made.hpcstruct", "vdso/0123456789abcdef.vdso", "kernel_symbols/linux", "gpubins/0123.gpubin",
                      "../root/usr/bin/made", "../root/lib64/libc.so.6"):
            for kind, make in KINDS.items():
                with self.subTest(where=where, kind=kind):
                    path = os.path.join(self.source, where)
                    os.makedirs(os.path.dirname(path), exist_ok=True)
                    make(path)
                    self.assertEqual(self.names(), plain)
                    self.assertIn(run("--check", self.source).returncode, (0, 1))
                    if os.path.isdir(path) and not os.path.islink(path):
                        os.rmdir(path)
                    else:
                        os.unlink(path)
                    if os.path.lexists(path + ".pipe"):
                        os.unlink(path + ".pipe")

    def test_structs_lead_nowhere_else(self):
        """A link out of the measurements gives no names, whether it is the folder or a file in it."""
        outside = os.path.join(self.undo.name, "outside")
        os.mkdir(outside)
        struct = """<?xml version="1.0"?>
<HPCToolkitStructure i="0" version="4.8" n="">
<LM i="2" n="/usr/bin/made" has-calls="1" v="{}"><F i="3" n="secret.c"><P i="4" n="secret" ln="secret" l="1" v="{[0x0-0xffffffff)}">
<S i="5" l="2" v="{[0x0-0xffffffff)}"/></P></F></LM>
</HPCToolkitStructure>
"""
        inside = os.path.join(self.source, "structs")
        os.mkdir(inside)
        for path in (os.path.join(outside, "made.hpcstruct"), os.path.join(inside, "made.hpcstruct")):
            with open(path, "w", encoding="ascii") as f:
                f.write(struct)
        self.assertIn(b"secret", self.names(), "the structure file names the program")
        os.unlink(os.path.join(inside, "made.hpcstruct"))
        os.symlink("../../outside/made.hpcstruct", os.path.join(inside, "made.hpcstruct"))
        self.assertNotIn(b"secret", self.names())
        shutil.rmtree(inside)
        os.symlink("../outside", inside)
        self.assertNotIn(b"secret", self.names())

    def test_modules_lead_out_of_no_root(self):
        """A load module is opened below -o sysroot, and not where it is a link out of there."""
        inside, outside = os.path.join(self.root, "usr/bin/made"), os.path.join(self.undo.name, "made")
        code = 'asm(".globl covering\\n.type covering,@function\\ncovering: .skip 4096\\n.size covering,.-covering\\n");'
        subprocess.run(["cc", "-x", "c", "-nostdlib", "-static", "-Wl,-Ttext=0x1000", "-Wl,-ecovering", "-o", outside, "-"],
                       input=code.encode(), check=True)
        shutil.copy(outside, inside)
        if b"covering" not in self.names():
            self.skipTest("profmount was built without libdw, so it reads no files of load modules")
        for target in (outside, "../../../made", "../" * 20 + outside[1:]):
            os.unlink(inside)
            os.symlink(target, inside)
            self.assertNotIn(b"covering", self.names())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
