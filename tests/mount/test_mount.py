#!/usr/bin/env python3
"""How a real mount behaves towards programs.

    test_mount.py PROFMOUNT SOURCE [CONFINEMENT]

CONFINEMENT is what the build has: `none`, `landlock`, or `seccomp` (which is both).
What files say is compared with `profmount --cat` of the same source. Exit 77, with a reason, where this machine
cannot mount.
"""
import contextlib
import ctypes
import errno
import os
import random
import re
import shutil
import signal
import stat
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import unittest.mock

PROFMOUNT, SOURCE = (os.path.abspath(p) for p in sys.argv[1:3])
CONFINEMENT = sys.argv[3] if len(sys.argv) > 3 else "none"
SFTP_SERVER = "/usr/lib/openssh/sftp-server"
SECONDS = 30  # nothing here takes long; whoever waits longer hangs


def run(*args, **more):
    return subprocess.run([PROFMOUNT, *args], stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS, **more)


def is_mounted(point):
    with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as f:
        return any(line.split(" ")[4] == point for line in f)


def wait_until(condition):
    until = time.time() + SECONDS
    while not condition() and time.time() < until:
        time.sleep(0.02)
    return condition()


def slurp(path):
    with open(path, "rb") as f:
        return f.read()


def anonymous_bytes(process):
    with open(f"/proc/{process.pid}/status", encoding="utf-8") as f:
        return int(re.search(r"^RssAnon:\s*(\d+) kB$", f.read(), re.M).group(1)) << 10


def error_of(function, *args):
    try:
        function(*args)
    except OSError as e:
        return e.errno
    return 0


class Handles:
    """name_to_handle_at(2) and open_by_handle_at(2): how an NFS server names files across restarts."""
    libc = ctypes.CDLL(None, use_errno=True)
    SIZE = 128

    @classmethod
    def of(cls, path):
        handle = ctypes.create_string_buffer(struct.pack("Ii", cls.SIZE, 0), 8 + cls.SIZE)
        mount = ctypes.c_int()
        if cls.libc.name_to_handle_at(-100, os.fsencode(path), handle, ctypes.byref(mount), 0) != 0:
            raise OSError(ctypes.get_errno(), "name_to_handle_at", path)
        return handle.raw

    @classmethod
    def open(cls, point, handle):
        folder = os.open(point, os.O_RDONLY)
        try:
            fd = cls.libc.open_by_handle_at(folder, handle, os.O_RDONLY)
            if fd < 0:
                raise OSError(ctypes.get_errno(), "open_by_handle_at")
            return fd
        finally:
            os.close(folder)


def walk(top):
    for folder, folders, files in os.walk(top):
        for name in folders + files:
            yield os.path.join(folder, name)


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
        if is_mounted(point):
            subprocess.run(["fusermount3", "-u", "-z", point], check=True)
        os.rmdir(point)


@contextlib.contextmanager
def served(*options):
    """The same in the foreground: yields the mountpoint and the process."""
    point = tempfile.mkdtemp(prefix="profmount-test-")
    process = subprocess.Popen([PROFMOUNT, "-f", *options, SOURCE, point], stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    try:
        assert wait_until(lambda: is_mounted(point) or process.poll() is not None)
        os.listdir(point)  # whoever answers has its signal handlers, and its keeper
        yield point, process
    finally:
        if is_mounted(point):
            subprocess.run(["fusermount3", "-u", "-z", point], check=True)
        process.wait(SECONDS)
        process.stderr.close()
        os.rmdir(point)


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


class Remote(unittest.TestCase):
    @unittest.skipUnless(os.getuid() == 0, "needs root")
    def test_handles_survive_a_remount(self):
        with mounted() as point:
            paths = [p for p in walk(point) if not os.path.islink(p)]
            random.Random(3).shuffle(paths)
            handles = {os.path.relpath(p, point): Handles.of(p) for p in paths[:100]}
        with mounted() as point:
            for name, handle in handles.items():
                fd = Handles.open(point, handle)
                path = os.path.join(point, name)
                try:
                    self.assertEqual(os.fstat(fd).st_ino, os.stat(path).st_ino, name)
                    if os.path.isdir(path):
                        self.assertEqual(os.listdir(fd), os.listdir(path), name)
                    else:
                        with open(fd, "rb", closefd=False) as f:
                            self.assertEqual(f.read(), slurp(path), name)
                finally:
                    os.close(fd)

    @unittest.skipUnless(os.getuid() == 0, "needs root")
    def test_handles_that_were_never_given_are_stale(self):
        with mounted() as point:
            handle = bytearray(Handles.of(os.path.join(point, "README.txt")))
            handle[8:16] = b"\xff" * 8
            self.assertEqual(error_of(Handles.open, point, bytes(handle)), errno.ESTALE)

    @unittest.skipUnless(shutil.which("sshfs") and os.path.exists(SFTP_SERVER), "needs sshfs and an SFTP server")
    def test_sshfs_of_a_mount_reads_the_same(self):
        with mounted() as point, tempfile.TemporaryDirectory(prefix="profmount-test-") as folder:
            far, ssh = os.path.join(folder, "far"), os.path.join(folder, "ssh")
            os.mkdir(far)
            with open(ssh, "w", encoding="utf-8") as f:
                f.write(f"#!/bin/sh\nexec {SFTP_SERVER} -R\n")  # what sshd would start, without a network
            os.chmod(ssh, 0o755)
            subprocess.run(["sshfs", "-o", f"ro,ssh_command={ssh}", f"host:{point}", far], check=True, timeout=SECONDS)
            try:
                self.assertEqual(sorted(os.listdir(far)), sorted(os.listdir(point)))
                files = [p for p in walk(point) if stat.S_ISREG(os.lstat(p).st_mode)]
                for path in files[::max(1, len(files) // 50)]:
                    self.assertEqual(slurp(path), slurp(os.path.join(far, os.path.relpath(path, point))), path)
            finally:
                subprocess.run(["fusermount3", "-u", "-z", far], check=True)


class Surroundings(unittest.TestCase):
    """mount(8), fstab and the desktop.

    mount.fuse3 finds installed programs; PROGRAM#SOURCE of type fuse is how it takes another one.
    """

    env = {**os.environ, "PATH": os.path.dirname(PROFMOUNT) + os.pathsep + os.environ["PATH"]}

    @contextlib.contextmanager
    def point(self):
        with tempfile.TemporaryDirectory(prefix="profmount-test-") as folder:
            point = os.path.join(folder, "point")
            os.mkdir(point)
            try:
                yield folder, point
            finally:
                if is_mounted(point):
                    subprocess.run(["fusermount3", "-u", "-z", point], check=True)

    def check(self, point, *command):
        done = subprocess.run(command, env=self.env, capture_output=True, text=True, timeout=SECONDS)
        self.assertEqual((done.returncode, done.stderr), (0, ""), command)
        self.assertTrue(is_mounted(point))
        self.assertEqual(slurp(os.path.join(point, "info.json")), run("--cat", SOURCE, "info.json").stdout)

    @unittest.skipUnless(os.getuid() == 0 and shutil.which("mount.fuse3"), "needs root and mount.fuse3")
    def test_mount_knows_the_type(self):
        for options in ("defaults", "ro,noexec,nosuid,nodev,noatime,sync,_netdev,nofail,x-systemd.automount,user=ada",
                        "allow_other,auto_unmount,uid=12,gid=34,comment=profile"):
            with self.point() as (_, point):
                self.check(point, "mount", "-t", "fuse", PROFMOUNT + "#" + SOURCE, point, "-o", options)
                if "uid=12" in options:
                    info = os.stat(os.path.join(point, "README.txt"))
                    self.assertEqual((info.st_uid, info.st_gid), (12, 34))

    @unittest.skipUnless(os.getuid() == 0 and shutil.which("mount.fuse3"), "needs root and mount.fuse3")
    def test_fstab_knows_the_type(self):
        with self.point() as (folder, point):
            fstab = os.path.join(folder, "fstab")
            with open(fstab, "w", encoding="utf-8") as f:
                f.write(f"{PROFMOUNT}#{SOURCE} {point} fuse noauto,users,nofail,x-gvfs-show,xattr 0 0\n")
            self.check(point, "mount", "--fstab", fstab, point)
            subprocess.run(["umount", point], check=True, timeout=SECONDS)
            self.assertFalse(is_mounted(point))

    def test_the_desktop_opens_a_profile_once(self):
        script = os.path.join(os.path.dirname(__file__), "..", "..", "docs", "packaging", "profmount-open")
        with tempfile.TemporaryDirectory(prefix="profmount-test-") as folder:
            with open(os.path.join(folder, "xdg-open"), "w", encoding="utf-8") as f:
                f.write("#!/bin/sh\nprintf %s \"$1\"\n")
            os.chmod(f.name, 0o755)
            env = {**self.env, "XDG_RUNTIME_DIR": folder, "PATH": folder + os.pathsep + self.env["PATH"]}
            source = os.path.join(folder, "a profile, über")
            (shutil.copytree if os.path.isdir(SOURCE) else shutil.copy2)(SOURCE, source)
            point = os.path.join(folder, "profmount", os.path.basename(source))
            try:
                for _ in range(2):
                    done = subprocess.run([script, source], env=env, capture_output=True, text=True, timeout=SECONDS)
                    self.assertEqual((done.returncode, done.stdout, done.stderr), (0, point, ""))
                self.assertTrue(os.path.exists(os.path.join(point, "README.txt")))
            finally:
                subprocess.run(["fusermount3", "-u", point], check=True)
            done = subprocess.run([script, "/etc/passwd"], env=env, capture_output=True, text=True, timeout=SECONDS)
            self.assertEqual(done.returncode, 1)
            self.assertIn("passwd", done.stderr)


class Life(unittest.TestCase):
    def test_unmounting_ends_the_process_well(self):
        with served() as (point, process):
            subprocess.run(["fusermount3", "-u", point], check=True)
            self.assertEqual(process.wait(SECONDS), 0)
            self.assertEqual(process.stderr.read(), b"")

    def test_signals_unmount(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            with served() as (point, process):
                process.send_signal(number)
                process.wait(SECONDS)
                self.assertFalse(is_mounted(point))

    def test_one_thread_serves_too(self):
        with served("-s") as (point, _):
            self.assertEqual(slurp(os.path.join(point, "info.json")), run("--cat", SOURCE, "info.json").stdout)

    def test_a_dead_mount_is_diagnosed(self):
        with served() as (point, process):
            process.kill()
            process.wait(SECONDS)
            done = run(SOURCE, point)
            self.assertEqual(done.returncode, 1)
            self.assertIn(b"fusermount3 -u " + point.encode(), done.stderr)
            subprocess.run(["fusermount3", "-u", point], check=True)

    def test_a_dead_server_is_unmounted_when_asked_for(self):
        with served("-o", "auto_unmount") as (point, process):
            process.kill()
            process.wait(SECONDS)
            self.assertTrue(wait_until(lambda: not is_mounted(point)))

    def test_a_mountpoint_is_not_used_twice(self):
        with mounted() as point:
            done = run(SOURCE, point)
            self.assertEqual(done.returncode, 1)
            self.assertEqual(len(done.stderr.splitlines()), 1)
            self.assertIn(point.encode(), done.stderr)

    def test_relative_paths_work_and_the_daemon_lives_in_the_root(self):
        point = tempfile.mkdtemp(prefix="profmount-test-")
        try:
            done = run(os.path.basename(SOURCE), os.path.relpath(point, os.path.dirname(SOURCE)),
                       cwd=os.path.dirname(SOURCE))
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertGreater(len(slurp(os.path.join(point, "contexts.csv"))), 0)
        finally:
            subprocess.run(["fusermount3", "-u", point], check=True)
            os.rmdir(point)


    @unittest.skipUnless(os.path.isdir(SOURCE), "needs a source that is a directory")
    def test_a_mountpoint_in_the_source_is_not_waited_for(self):
        with tempfile.TemporaryDirectory() as folder:
            copy = os.path.join(folder, "source")
            shutil.copytree(SOURCE, copy)
            for point in [copy] + [path for path in walk(copy) if os.path.isdir(path)]:
                run("-s", copy, point)
                try:
                    subprocess.run(["grep", "-rq", "no such text", point], timeout=SECONDS)
                finally:
                    subprocess.run(["fusermount3", "-u", point], check=True)


class Endurance(unittest.TestCase):
    def test_memory_stays_flat_over_reads_of_random_files(self):
        chance = random.Random(3)

        def read_some(files, n):
            for path in chance.choices(files, k=n):
                with open(path, "rb", buffering=0) as f:
                    os.pread(f.fileno(), 8192, chance.randrange(os.fstat(f.fileno()).st_size + 1))
                    os.posix_fadvise(f.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)  # the next reader asks again

        # A sanitizer that keeps what was freed would look like a leak.
        with unittest.mock.patch.dict(os.environ, ASAN_OPTIONS="quarantine_size_mb=0:thread_local_quarantine_size_kb=0"), \
                served("-o", "cache=1M") as (point, process):
            files = [p for p in walk(point) if stat.S_ISREG(os.lstat(p).st_mode)]
            read_some(files, 3000)
            before = anonymous_bytes(process)
            read_some(files, 10000)
            self.assertLess(anonymous_bytes(process), before + (4 << 20))

    def unmount_while_readers_are_busy(self, unmount):
        rounds, failed = [], []

        def read(files):
            while not failed:
                for path in files:
                    try:
                        with open(path, "rb", buffering=0) as f:
                            f.read()
                            os.posix_fadvise(f.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
                    except OSError as e:
                        failed.append(e.errno)
                        return
                rounds.append(1)

        # libfuse does not give back the name of a mountpoint that goes under readers.
        with unittest.mock.patch.dict(os.environ, ASAN_OPTIONS="detect_leaks=0"), served() as (point, process):
            files = [p for p in walk(point) if stat.S_ISREG(os.lstat(p).st_mode)][:100]
            readers = [threading.Thread(target=read, args=(files[n:] + files[:n],)) for n in range(4)]
            for r in readers:
                r.start()
            self.assertTrue(wait_until(lambda: rounds))
            unmount(point, process)
            for r in readers:
                r.join(SECONDS)
                self.assertFalse(r.is_alive())
            self.assertEqual(process.wait(SECONDS), 0)
            self.assertFalse(is_mounted(point))
        self.assertLessEqual(set(failed), {errno.ENOENT, errno.ENOTCONN, errno.ECONNABORTED, errno.EIO})

    def test_a_signal_unmounts_while_readers_are_busy(self):
        self.unmount_while_readers_are_busy(lambda point, process: process.terminate())

    def test_a_lazy_unmount_goes_through_while_readers_are_busy(self):
        self.unmount_while_readers_are_busy(
            lambda point, process: subprocess.run(["fusermount3", "-u", "-z", point], check=True))


@unittest.skipIf(CONFINEMENT == "none", "this build has no confinement")
class Confinement(unittest.TestCase):
    READ_ALL = 1 << 2  # CAP_DAC_READ_SEARCH

    def test_every_thread_has_given_up_its_privileges(self):
        with served() as (point, process):
            for path in walk(point):
                os.lstat(path)
            for task in os.listdir(f"/proc/{process.pid}/task"):
                with open(f"/proc/{process.pid}/task/{task}/status", encoding="utf-8") as f:
                    status = dict(line.rstrip("\n").split(":\t", 1) for line in f)
                self.assertEqual(status["NoNewPrivs"], "1")
                self.assertEqual(status["Seccomp"], "2" if CONFINEMENT == "seccomp" else "0")
                self.assertEqual(int(status["CapEff"], 16) & ~self.READ_ALL, 0)
                self.assertEqual(int(status["CapPrm"], 16) & ~self.READ_ALL, 0)

    def test_nothing_is_open_for_writing(self):
        with served() as (point, process):
            slurp(os.path.join(point, "contexts.csv"))
            for fd in os.listdir(f"/proc/{process.pid}/fd"):
                target = os.readlink(f"/proc/{process.pid}/fd/{fd}")
                with open(f"/proc/{process.pid}/fdinfo/{fd}", encoding="utf-8") as f:
                    flags = int(re.search(r"^flags:\s*(\d+)$", f.read(), re.M).group(1), 8)
                if flags & os.O_ACCMODE != os.O_RDONLY:
                    self.assertRegex(target, r"^(/dev/fuse|/dev/null|pipe:.*|socket:.*)$")

    def test_a_busy_mount_ends_with_its_server(self):
        with served() as (point, process):
            inside = os.open(point, os.O_RDONLY)
            process.terminate()
            self.assertEqual(process.wait(SECONDS), 0)
            self.assertFalse(is_mounted(point))
            os.close(inside)


class Changes(unittest.TestCase):
    """The source changes under the mount: old bytes or EIO, and the process lives."""

    def check(self, change):
        with tempfile.TemporaryDirectory() as folder:
            copy = os.path.join(folder, "source")
            (shutil.copytree if os.path.isdir(SOURCE) else shutil.copy2)(SOURCE, copy)
            names = ("contexts.csv", "functions.csv", "threads.csv", "metrics.csv", "info.json")
            want = {n: run("--cat", copy, n).stdout for n in names}
            with mounted(source=copy) as point:
                for path in ([copy] if os.path.isfile(copy) else list(walk(copy))):
                    if os.path.isfile(path):
                        change(path)
                for name in names:
                    try:
                        self.assertEqual(slurp(os.path.join(point, name)), want[name], name)
                    except OSError as e:
                        self.assertEqual(e.errno, errno.EIO, name)
                self.assertEqual(error_of(os.statvfs, point), 0)

    def test_truncated_to_half(self):
        self.check(lambda path: os.truncate(path, os.path.getsize(path) // 2))

    def test_truncated_to_nothing(self):
        self.check(lambda path: os.truncate(path, 0))

    def test_grown(self):
        def grow(path):
            with open(path, "ab") as f:
                f.write(b"more bytes" * 1000)
        self.check(grow)

    def test_removed(self):
        self.check(os.unlink)

    def test_replaced(self):
        def replace(path):
            with open(path + ".new", "wb") as f:
                f.write(b"other bytes" * 1000)
            os.rename(path + ".new", path)
        self.check(replace)


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
    if not os.path.exists("/dev/fuse") or not shutil.which("fusermount3"):
        print("SKIPPED: this machine cannot mount (no /dev/fuse or no fusermount3)")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1], verbosity=2)
