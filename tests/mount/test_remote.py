#!/usr/bin/env python3
"""A mount seen through others: file handles, sshfs, mount(8), fstab, the desktop."""
import contextlib
import ctypes
import errno
import os
import random
import shutil
import stat
import struct
import subprocess
import tempfile
import unittest

from mounts import PROFMOUNT, SECONDS, SOURCE, error_of, is_mounted, main, mounted, run, slurp, walk

SFTP_SERVER = "/usr/lib/openssh/sftp-server"


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

    @unittest.skipUnless(shutil.which("sshfs") and os.path.exists(SFTP_SERVER), "sshfs is not installed (Debian: apt-get install sshfs openssh-sftp-server)")
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

    @unittest.skipUnless(os.getuid() == 0, "needs root")
    def test_mount_runs_the_helper_in_sbin(self):
        """As mount.profmount(8) has it; on top of the system's /sbin for this test alone."""
        helper = os.path.join(os.path.dirname(__file__), "..", "..", "docs", "packaging", "mount.profmount.in")
        script = """mount -t tmpfs none /mnt && mkdir /mnt/sbin /mnt/point && sbin=$(readlink -f /sbin) &&
            sed "s|@PROFMOUNT@|$1|" "$3" >/mnt/sbin/mount.profmount && chmod 755 /mnt/sbin/mount.profmount &&
            mount -t overlay -o "lowerdir=/mnt/sbin:$sbin" none "$sbin" || exit 77
            set -e
            mount -t profmount "$2" /mnt/point -o rw,noatime,_netdev,uid=12
            stat -c %u /mnt/point/info.json
            umount /mnt/point"""
        done = subprocess.run(["unshare", "--mount", "sh", "-c", script, "sh", PROFMOUNT, SOURCE, helper], capture_output=True,
                              timeout=SECONDS, text=True, check=False)
        if done.returncode == 77:
            self.skipTest(done.stderr.strip())
        self.assertEqual((done.returncode, done.stderr, done.stdout), (0, "", "12\n"))

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


if __name__ == "__main__":
    main()
