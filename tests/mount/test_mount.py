#!/usr/bin/env python3
"""How a real mount behaves towards programs: contents, metadata, refusals.

What files say is compared with `profmount --cat` of the same source.
"""
import errno
import mmap
import os
import random
import stat
import subprocess
import sys
import tempfile
import threading
import time
import unittest

from mounts import SECONDS, SOURCE, error_of, is_mounted, main, mounted, run, slurp, walk

# Ways to a file's data that ask nobody for its size; argv: path, size. Each writes the data to standard output.
FIRST_HEAD = "import mmap, os, sys\npath, size = sys.argv[1], int(sys.argv[2])\nfd = os.open(path, os.O_RDONLY)\n"
FIRST = {
    "read": "while (p := os.read(fd, 65536)): os.write(1, p)",
    "sendfile": "while os.sendfile(1, fd, None, 1 << 20): pass",
    # os.splice came with Python 3.10.
    "splice": "import ctypes\nsplice = ctypes.CDLL(None, use_errno=True).splice\nr, w = os.pipe()\n"
              "while (n := splice(fd, None, w, None, ctypes.c_size_t(65536), 0)) > 0: os.write(1, os.read(r, n))\n"
              "sys.exit(f'splice: {os.strerror(ctypes.get_errno())}' if n < 0 else 0)",
    "mmap": "os.write(1, mmap.mmap(fd, size, prot=mmap.PROT_READ)[:])",
    "lseek": "n = os.lseek(fd, 0, os.SEEK_END)\nos.write(1, os.pread(fd, n, 0))",
    "past the cache": "fd = os.open(path, os.O_RDONLY | os.O_DIRECT)\nm = mmap.mmap(-1, 1 << 20)\n"
                      "while (n := os.readv(fd, [m])): os.write(1, m[:n])",
    "by its descriptor": "fd = os.open(path, os.O_PATH)\nfd = os.open(f'/proc/self/fd/{fd}', os.O_RDONLY)\n"
                         "while os.sendfile(1, fd, None, 1 << 20): pass",
}


class Contents(unittest.TestCase):
    def test_every_file_is_what_cat_prints(self):
        with mounted() as point:
            files = [p for p in walk(point) if stat.S_ISREG(os.lstat(p).st_mode)]
            self.assertGreater(len(files), 20)
            random.Random(1).shuffle(files)
            for path in files[:150]:
                data = slurp(path)
                self.assertEqual(os.stat(path).st_size, len(data), path)
                self.assertEqual(run("--cat", SOURCE, os.path.relpath(path, point)).stdout, data, path)

    def test_whoever_comes_first_sees_exact_sizes(self):
        # Lookup leaves sizes to getattr: each way to the data gets a file that nobody has asked for before.
        name = "functions.csv"
        want = run("--cat", SOURCE, name).stdout
        for way in FIRST:
            with self.subTest(way=way), mounted() as point:
                done = subprocess.run([sys.executable, "-c", FIRST_HEAD + FIRST[way], os.path.join(point, name), str(len(want))],
                                      capture_output=True, timeout=SECONDS)
                self.assertEqual((done.returncode, done.stdout), (0, want), done.stderr)
        for command in ("cat %s", "tail -n +1 %s", "dd if=%s status=none", "head -c 1000000 %s", "grep -h '' %s", "tac %s | tac",
                        "cp %s copy && cat copy && rm copy", "tar -cf - -C $(dirname %s) functions.csv | tar -xOf -"):
            with self.subTest(command=command), mounted() as point, tempfile.TemporaryDirectory() as folder:
                done = subprocess.run(["sh", "-c", command % os.path.join(point, name)], cwd=folder, capture_output=True, timeout=SECONDS)
                self.assertEqual((done.returncode, done.stdout), (0, want), done.stderr)

    def test_two_who_come_first_see_exact_sizes(self):
        want = run("--cat", SOURCE, "functions.csv").stdout
        for _ in range(5):
            with mounted() as point:
                command = [sys.executable, "-c", FIRST_HEAD + FIRST["sendfile"], os.path.join(point, "functions.csv"), "0"]
                readers = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(4)]
                for r in readers:
                    self.assertEqual(r.communicate(timeout=SECONDS)[0], want)

    def test_a_second_path_to_a_file_leaves_its_readers_alone(self):
        # by-id/ and contexts/ hold the same files: looking one up again must not cut it.
        with mounted() as point:
            one = next(p for p in walk(os.path.join(point, "contexts")) if p.endswith("/path.txt"))
            with open(one, "rb", buffering=0) as f:
                held = mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ)
                for number in os.listdir(os.path.join(point, "by-id")):
                    for name in os.listdir(os.path.join(point, "by-id", number)):
                        os.open(os.path.join(point, "by-id", number, name), os.O_PATH | os.O_CLOEXEC)
                self.assertEqual(os.fstat(f.fileno()).st_size, len(held))
                self.assertEqual(held[:], slurp(one))

    def test_windows_of_unread_files_are_slices(self):
        chance = random.Random(2)
        with mounted() as point:
            for name in ("contexts.csv", "contexts.tsv", "README.txt", "info.json"):
                whole = run("--cat", SOURCE, name).stdout
                with open(os.path.join(point, name), "rb", buffering=0) as f:
                    for _ in range(30):
                        at, n = chance.randrange(len(whole) + 5), chance.choice((1, 100, 5000))
                        self.assertEqual(os.pread(f.fileno(), n, at), whole[at:at + n], name)

    def test_a_second_mount_has_the_same_inodes(self):
        with mounted() as one, mounted() as two:
            for path in list(walk(one))[:300]:
                other = os.path.join(two, os.path.relpath(path, one))
                self.assertEqual(os.lstat(path).st_ino, os.lstat(other).st_ino, path)

    def test_programs_agree(self):
        with mounted() as point:
            for command in ("ls -lR . >/dev/null", "tar cf /dev/null .", "grep -r . . >/dev/null",
                            "find . -type f -print0 | xargs -0 cat >/dev/null", "du -ab . >/dev/null"):
                done = subprocess.run(["sh", "-c", command], cwd=point, capture_output=True, timeout=SECONDS)
                self.assertEqual((done.returncode, done.stderr), (0, b""), command)

    def test_many_readers_at_once(self):
        wrong = []

        def read(point, files):
            for path in files:
                if slurp(path) != slurp(path.replace(point, reference)):
                    wrong.append(path)

        with mounted() as point, tempfile.TemporaryDirectory() as reference:
            self.assertEqual(run("--extract", SOURCE, reference).returncode, 0)
            files = [p for p in walk(point) if stat.S_ISREG(os.lstat(p).st_mode)][:200]
            threads = [threading.Thread(target=read, args=(point, files[n:] + files[:n])) for n in range(8)]
            for t in threads:
                t.start()
            for t in threads:
                t.join(SECONDS)
        self.assertEqual(wrong, [])


class Metadata(unittest.TestCase):
    def test_modes_owner_and_times(self):
        with mounted() as point:
            for path in list(walk(point))[:200]:
                info = os.lstat(path)
                mode = 0o555 if stat.S_ISDIR(info.st_mode) else 0o444
                if not stat.S_ISLNK(info.st_mode):
                    self.assertEqual(stat.S_IMODE(info.st_mode), mode, path)
                self.assertEqual((info.st_uid, info.st_gid), (os.getuid(), os.getgid()), path)
                self.assertLess(info.st_mtime, time.time())

    def test_the_mount_table_names_source_and_type(self):
        with mounted() as point:
            with open("/proc/self/mountinfo", encoding="utf-8") as f:
                line = next(line for line in f if line.split(" ")[4] == point)
            self.assertIn(" fuse.profmount " + SOURCE + " ", line)
            self.assertTrue(os.statvfs(point).f_flag & os.ST_RDONLY)

    def test_readahead_is_large_whatever_the_mountpoint_is_called(self):
        for name in ("plain", "with blanks\tand \\ # \n"):
            with tempfile.TemporaryDirectory(prefix="profmount-test-") as folder:
                point = os.path.join(folder, name)
                os.mkdir(point)
                self.assertEqual(run(SOURCE, point).returncode, 0)
                try:
                    device = os.stat(point).st_dev
                    path = f"/sys/class/bdi/{os.major(device)}:{os.minor(device)}/read_ahead_kb"
                    if os.access(path, os.W_OK):
                        self.assertEqual(int(slurp(path)), 4096, name)
                finally:
                    subprocess.run(["fusermount3", "-u", point], check=True)

    def test_nothing_can_be_changed(self):
        with mounted() as point:
            readme, new = os.path.join(point, "README.txt"), os.path.join(point, "new")
            for attempt in (lambda: open(readme, "r+b"), lambda: open(new, "wb"), lambda: os.unlink(readme),
                            lambda: os.mkdir(new), lambda: os.rename(readme, new), lambda: os.chmod(readme, 0o600),
                            lambda: os.utime(readme, (1, 1)), lambda: os.truncate(readme, 0)):
                self.assertEqual(error_of(attempt), errno.EROFS)

    def test_missing_names_stay_missing(self):
        with mounted() as point:
            for name in ("nosuch", "contexts/nosuch", "by-id/0", "by-id/-1", "README.TXT", "raw/nosuch", "a" * 255):
                for _ in range(2):
                    self.assertEqual(error_of(os.lstat, os.path.join(point, name)), errno.ENOENT, name)
            self.assertEqual(error_of(os.lstat, os.path.join(point, "README.txt/x")), errno.ENOTDIR)
            self.assertEqual(error_of(os.listdir, os.path.join(point, "README.txt")), errno.ENOTDIR)

    def test_extended_attributes_are_there_when_asked_for(self):
        with mounted() as point:
            self.assertEqual(error_of(os.getxattr, point, "user.profmount.source"), errno.ENOTSUP)
        with mounted("-o", "xattr") as point:
            self.assertEqual(os.getxattr(point, "user.profmount.source").decode(), SOURCE)
            context = os.path.join(point, "by-id", os.listdir(os.path.join(point, "by-id"))[0])
            self.assertEqual(os.getxattr(context, "user.profmount.context_id").decode(), os.path.basename(context))
            self.assertEqual(error_of(os.getxattr, context, "user.profmount.nosuch"), errno.ENODATA)
            self.assertIn("user.profmount.kind", os.listxattr(context))


class Refusals(unittest.TestCase):
    def refused(self, source, name, code=1):
        with tempfile.TemporaryDirectory() as point:
            done = run(source, point)
            self.assertEqual(done.returncode, code, done.stderr)
            self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
            self.assertIn(name.encode(), done.stderr)
            self.assertFalse(is_mounted(point))

    def test_sources_that_do_not_serve(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, data in (("empty", b""), ("letter.txt", b"no profile\n" * 100), ("zeros", bytes(70000))):
                with open(os.path.join(folder, name), "wb") as f:
                    f.write(data)
            os.mkdir(os.path.join(folder, "folder"))
            os.mkfifo(os.path.join(folder, "pipe"))
            for name in ("empty", "letter.txt", "zeros", "folder", "pipe", "missing"):
                self.refused(os.path.join(folder, name), name)
                self.assertEqual(run("--check", os.path.join(folder, name)).returncode, 2)

    def test_mountpoints_that_do_not_serve(self):
        for point in ("/nonexistent/mountpoint", SOURCE if os.path.isfile(SOURCE) else "/etc/passwd"):
            done = run(SOURCE, point)
            self.assertEqual(done.returncode, 1)
            self.assertIn(point.encode(), done.stderr)

    def test_wrong_command_lines(self):
        for args in ([], [SOURCE], ["-x"], ["--nosuch"], ["-o", "nosuch=1", SOURCE, "/tmp"], ["-o"], ["--ls"],
                     ["--cat", SOURCE], ["--extract", SOURCE], [SOURCE, "/tmp", "more"], ["-o", "cache=x", SOURCE, "/tmp"]):
            done = run(*args)
            self.assertEqual((done.returncode, done.stdout), (2, b""), args)
            self.assertNotEqual(done.stderr, b"", args)


if __name__ == "__main__":
    main()
