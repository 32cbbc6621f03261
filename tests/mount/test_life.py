#!/usr/bin/env python3
"""From mount to unmount: signals, killed servers, busy readers, privileges."""
import errno
import os
import re
import shutil
import signal
import stat
import subprocess
import tempfile
import threading
import unittest
import unittest.mock

from mounts import (CONFINEMENT, PROFMOUNT, SECONDS, SOURCE, children, is_mounted, is_running, main, mounted, run, served, slurp,
                    wait_until, walk)


def grandchildren(pid):
    return [grandchild for child in children(pid) for grandchild in children(child)]


class Life(unittest.TestCase):
    def test_unmounting_ends_the_process_well(self):
        with served() as (point, process):
            subprocess.run(["fusermount3", "-u", point], check=True)
            self.assertEqual(process.wait(SECONDS), 0)
            self.assertEqual(process.stderr.read(), b"")

    def test_unmounting_by_the_program(self):
        with served() as (point, process):
            inside = os.open(point, os.O_RDONLY)
            done = run("-u", point)
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr.decode(), "in use|busy")
            os.close(inside)
            done = run("-u", os.path.basename(point) + "/", cwd=os.path.dirname(point))
            self.assertEqual((done.returncode, done.stderr), (0, b""))
            self.assertFalse(is_mounted(point))
            self.assertEqual(process.wait(SECONDS), 0)
            # What is not ours stays.
            self.assertEqual(run("-u", "/proc").stderr, b"profmount: /proc: is not a mount of profmount\n")
            self.assertTrue(is_mounted("/proc"))

    @unittest.skipUnless(os.getuid() == 0, "needs root, to give a user the fusermount of fuse2")
    def test_fusermount_of_fuse2_will_do(self):
        # The same program by its older name: both take the same words.
        script = """set -e
            mount -t tmpfs -o mode=755,suid,dev none /mnt
            mkdir /mnt/bin && cp -p "$(command -v fusermount3)" /mnt/bin/fusermount
            mknod -m 666 /mnt/fuse c 10 229 && mount --bind /mnt/fuse /dev/fuse
            mount --bind /dev/null "$(readlink -f "$(command -v fusermount3)")"
            cp "$1" /mnt/profmount && cp -r "$2" /mnt/source && mkdir /mnt/point && chown 65534 /mnt/point
            PATH=/mnt/bin:$PATH exec setpriv --reuid 65534 --regid 65534 --clear-groups sh -ec '
                cd /
                /mnt/profmount /mnt/source /mnt/point
                head -n 1 /mnt/point/README.txt && grep -o "fuse.profmount" /proc/self/mounts | tail -n 1
                /mnt/profmount -u /mnt/point
                ! mountpoint -q /mnt/point
                /mnt/profmount -f /mnt/source /mnt/point & server=$!
                until mountpoint -q /mnt/point; do kill -0 $server && sleep 0.02; done
                kill $server && wait $server
                ! mountpoint -q /mnt/point'"""
        done = subprocess.run(["unshare", "--mount", "sh", "-c", script, "sh", PROFMOUNT, SOURCE], capture_output=True,
                              timeout=SECONDS, check=False)
        if b"mount: /mnt" in done.stderr or b"mknod" in done.stderr:
            self.skipTest(done.stderr.decode().strip())
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertIn(b"fuse.profmount", done.stdout)

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
            self.assertIn(b"profmount -u " + point.encode(), done.stderr)
            done = run("-u", point)
            self.assertEqual((done.returncode, done.stderr), (0, b""))
            self.assertFalse(is_mounted(point))

    def test_a_dead_server_is_unmounted_when_asked_for(self):
        with served("-o", "auto_unmount") as (point, process):
            process.kill()
            process.wait(SECONDS)
            self.assertTrue(wait_until(lambda: not is_mounted(point)))

    def test_a_dead_keeper_leaves_no_dead_mount(self):
        for _ in range(3):
            with served() as (point, process):
                self.assertTrue(wait_until(lambda: grandchildren(process.pid)))
                keeper = children(process.pid)[0]
                os.kill(keeper, signal.SIGKILL)
                self.assertGreater(len(os.listdir(point)), 0)
                process.terminate()
                self.assertEqual(process.wait(SECONDS), 0)
                self.assertTrue(wait_until(lambda: not is_mounted(point)))

    def test_no_process_is_left(self):
        with served() as (point, process):
            self.assertTrue(wait_until(lambda: grandchildren(process.pid)))
            helpers = children(process.pid) + grandchildren(process.pid)
            process.terminate()
            process.wait(SECONDS)
            self.assertTrue(wait_until(lambda: not any(is_running(pid) for pid in helpers)))

    def test_the_background_is_entered_when_the_mount_is_ready(self):
        with mounted() as point:
            self.assertIn("README.txt", os.listdir(point))
        with tempfile.TemporaryDirectory() as point:
            done = run("/dev/null", point)
            self.assertEqual(done.returncode, 1)
            self.assertEqual(len(done.stderr.splitlines()), 1)

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


class BusyReaders(unittest.TestCase):
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
                try:
                    with open(f"/proc/{process.pid}/task/{task}/status", encoding="utf-8") as f:
                        status = dict(line.rstrip("\n").split(":\t", 1) for line in f)
                except (FileNotFoundError, ProcessLookupError):  # a thread that has ended since
                    self.assertNotEqual(int(task), process.pid)
                    continue
                self.assertEqual(status["NoNewPrivs"], "1")
                self.assertEqual(status["Seccomp"], "2" if CONFINEMENT == "seccomp" else "0")
                self.assertEqual(int(status["CapEff"], 16) & ~self.READ_ALL, 0)
                self.assertEqual(int(status["CapPrm"], 16) & ~self.READ_ALL, 0)

    def test_nothing_is_open_for_writing(self):
        with served() as (point, process):
            slurp(os.path.join(point, "contexts.csv"))
            for fd in os.listdir(f"/proc/{process.pid}/fd"):
                try:
                    target = os.readlink(f"/proc/{process.pid}/fd/{fd}")
                    with open(f"/proc/{process.pid}/fdinfo/{fd}", encoding="utf-8") as f:
                        flags = int(re.search(r"^flags:\s*(\d+)$", f.read(), re.M).group(1), 8)
                except FileNotFoundError:  # closed since
                    continue
                if flags & os.O_ACCMODE != os.O_RDONLY:
                    self.assertRegex(target, r"^(/dev/fuse|/dev/null|pipe:.*|socket:.*)$")

    def test_a_busy_mount_ends_with_its_server(self):
        with served() as (point, process):
            inside = os.open(point, os.O_RDONLY)
            process.terminate()
            self.assertEqual(process.wait(SECONDS), 0)
            self.assertFalse(is_mounted(point))
            os.close(inside)


if __name__ == "__main__":
    main()
