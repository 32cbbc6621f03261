#!/usr/bin/env python3
"""What a reader that was taken over can still do: in a mount and in each command, with every layer of the confinement,
and with Landlock or seccomp taken away.

    test_hijacked.py HIJACKED LACKING

HIJACKED is profmount with tests/command/hijacked.c for a format; LACKING takes a layer away. What is still allowed, and
why, stands in docs/decisions/0090-least-privilege.md.
"""
import ctypes
import fcntl
import os
import socket
import subprocess
import sys
import tempfile
import unittest

HIJACKED, LACKING = (os.path.abspath(p) for p in sys.argv[1:3])
CREATE_RULESET = 444  # on every machine

COMMANDS = {"mount": ["-f"], "ls": ["--ls"], "cat": ["--cat"], "check": ["--check"], "extract": ["--extract"]}
# What Landlock alone forbids, from the version that knows truncation on, and what capabilities alone do.
LANDLOCK_FORBIDS = {
    "open_write", "open_update", "open_append", "open_truncate", "open_create", "open_create_new", "open_temporary",
    "openat2_write", "openat2_truncate", "open_memory", "truncate", "mkdir", "mkdirat", "mkfifo", "symlink",
    "symlinkat", "link", "rename", "unlink", "unlinkat", "rmdir", "execve"}
SCOPES_FORBID = {"kill", "tgkill", "tkill"}
CAPABILITIES_FORBID = {"mount", "umount", "chroot", "inherited_descriptor"}
# --extract makes files and puts new ones in the place of old ones.
EXTRACTING = {"open_create_new", "unlinkat"}


def landlock_version():
    return ctypes.CDLL(None).syscall(CREATE_RULESET, None, ctypes.c_size_t(0), 1)


class Hijacked(unittest.TestCase):
    def attempt(self, command, *lacking, inside=False):
        """What was done by a hijacked reader; `inside`: to the folder that is extracted to."""
        with tempfile.TemporaryDirectory(prefix="profmount-test-") as folder, \
                tempfile.TemporaryDirectory(prefix="profmount-test-") as target, \
                open(os.devnull, "wb") as null, socket.socket(socket.AF_UNIX) as listener:
            path = os.path.join(folder, "file")
            with open(path, "w", encoding="utf-8") as f:
                f.write("x" * 5000)
            os.mkdir(os.path.join(folder, "empty"))
            listener.bind(os.path.join(folder, "socket"))
            listener.listen()
            # A number that the program does not come to by itself.
            inherited = fcntl.fcntl(null.fileno(), fcntl.F_DUPFD, 200)
            other = subprocess.Popen(["sleep", "600"])
            words = {"mount": [target], "cat": ["README.txt"], "extract": [folder if inside else target]}
            wrapper = [LACKING, *lacking, "--"] if lacking else []
            environment = dict(os.environ, HIJACKED_FOLDER=folder, HIJACKED_PID=str(other.pid),
                               HIJACKED_FD=str(inherited))
            try:
                done = subprocess.run([*wrapper, HIJACKED, *COMMANDS[command], path, *words.get(command, [])],
                                      stdin=subprocess.DEVNULL, capture_output=True, timeout=600, env=environment,
                                      pass_fds=[inherited])
                if not lacking and not inside:
                    with open(path, encoding="utf-8") as f:
                        self.assertEqual(len(f.read()), 5000)
                    self.assertEqual(sorted(os.listdir(folder)), ["empty", "file", "socket"])
                self.assertIsNone(other.poll())
            finally:
                other.kill()
                other.wait()
                os.close(inherited)
            lines = done.stderr.decode(errors="replace").splitlines()
            self.assertTrue(any(line.startswith("open_write ") for line in lines), lines)
            did = {line[:-len(" done")] for line in lines if line.endswith(" done")}
            return did if "end" in lines else did | {"execve"}

    def test_nothing_is_done_with_all_layers(self):
        for command in COMMANDS:
            with self.subTest(command):
                self.assertEqual(self.attempt(command), set())

    def test_nothing_is_done_without_landlock(self):
        for command in COMMANDS:
            with self.subTest(command):
                self.assertEqual(self.attempt(command, "landlock"), EXTRACTING if command == "extract" else set())

    def test_extracting_makes_files_in_its_target(self):
        self.assertEqual(self.attempt("extract", inside=True), EXTRACTING)

    def test_files_are_safe_without_seccomp(self):
        version = landlock_version()
        if version < 3:
            self.skipTest("this kernel's Landlock does not know truncation")
        forbidden = LANDLOCK_FORBIDS | CAPABILITIES_FORBID | (SCOPES_FORBID if version >= 6 else set())
        for command in COMMANDS:
            with self.subTest(command):
                self.assertEqual(self.attempt(command, "seccomp") & forbidden, set())

    def test_privileges_are_gone_without_both(self):
        for command in COMMANDS:
            with self.subTest(command):
                self.assertEqual(self.attempt(command, "landlock", "seccomp") & CAPABILITIES_FORBID, set())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
