#!/usr/bin/env python3
"""What a reader that was taken over can still do: in a mount and in each command, with every layer of the confinement,
and with Landlock or seccomp taken away.

    test_hijacked.py HIJACKED LACKING

HIJACKED is profmount with tests/command/hijacked.c for a format; LACKING takes a layer away. What is still allowed, and
why, stands in docs/decisions/0090-least-privilege.md.
"""
import contextlib
import ctypes
import fcntl
import os
import socket
import subprocess
import sys
import tempfile
import time
import unittest

sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import can_mount  # noqa: E402

HIJACKED, LACKING = (os.path.abspath(p) for p in sys.argv[1:3])
CREATE_RULESET = 444  # on every machine

# What stands before and behind a command's sources, with TARGET for the folder to mount on or to extract to.
TARGET = object()
COMMANDS = {
    "mount": (["-f"], [TARGET]),
    "follow": (["-f", "-o", "follow"], [TARGET]),
    "ls": (["--ls"], []),
    "cat": (["--cat"], ["README.txt"]),
    "check": (["--check"], []),
    "extract": (["--extract"], [TARGET]),
    # Several runs: the same reader opens each.
    "mount runs": (["-f"], [TARGET]),
    "ls runs": (["--ls"], ["--", "runs/run=a"]),
    "cat runs": (["--cat"], ["--", "compare/b/functions.csv"]),
    "check runs": (["--check"], ["--"]),
    "extract runs": (["--extract"], ["--", TARGET]),
}
# What Landlock alone forbids, from the version that knows truncation on, and what capabilities alone do.
LANDLOCK_FORBIDS = {
    "open_write", "open_update", "open_append", "open_truncate", "open_create", "open_create_new", "open_temporary",
    "openat2_write", "openat2_truncate", "open_memory", "open_handle_write", "truncate", "mkdir", "mkdirat", "mkfifo", "symlink",
    "symlinkat", "link", "rename", "unlink", "unlinkat", "rmdir", "execve", "ptrace", "read_memory", "read_environment",
    "write_memory"}
# Files below /proc, which the user may read: only Landlock knows whose processes they belong to.
READS_OTHERS = set() if os.geteuid() == 0 else {"read_memory", "read_environment"}
SCOPES_FORBID = {"kill", "tgkill", "tkill"}
CAPABILITIES_FORBID = {"mount", "umount", "chroot", "inherited_descriptor"}
# --extract makes files and puts new ones in the place of old ones.
EXTRACTING = {"open_create_new", "unlinkat"}


def landlock_version():
    return ctypes.CDLL(None).syscall(CREATE_RULESET, None, ctypes.c_size_t(0), 1)


class Hijacked(unittest.TestCase):
    def run_program(self, command, environment, inherited, mounted):
        """What it says on standard error. Several runs are `mounted` before a reader sees any of them."""
        program = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                   env=environment, pass_fds=[inherited])
        try:
            while mounted and not os.path.ismount(mounted) and program.poll() is None:
                time.sleep(0.01)
            if mounted and program.poll() is None:
                with contextlib.suppress(OSError):  # where the reader became another program
                    os.listdir(os.path.join(mounted, "runs", "run=a"))
                program.terminate()
            return program.communicate(timeout=600)[1]
        finally:
            program.kill()
            program.wait()
            if mounted:
                subprocess.run(["fusermount3", "-qu", mounted], stderr=subprocess.DEVNULL, check=False)

    def attempt(self, command, *lacking, inside=False):
        """What was done by a hijacked reader; `inside`: to the folder that is extracted to."""
        why = os.environ.get("PROFMOUNT_CANNOT_MOUNT") if "mount" in command or command == "follow" else None
        if why:
            self.skipTest(why)
        if command == "mount runs":  # the others read before they mount
            why = can_mount.why_not()
            if not why and lacking and os.geteuid() != 0:
                why = "a user gives up new privileges to take a layer away, and fusermount3 cannot mount then"
            if why:
                self.skipTest(why)
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
            before, behind = COMMANDS[command]
            sources = [f"a={path}", f"b={path}"] if command.endswith(" runs") else [path]
            behind = [(folder if inside else target) if word is TARGET else word for word in behind]
            wrapper = [LACKING, *lacking, "--"] if lacking else []
            environment = dict(os.environ, HIJACKED_FOLDER=folder, HIJACKED_PID=str(other.pid),
                               HIJACKED_FD=str(inherited))
            try:
                said = self.run_program([*wrapper, HIJACKED, *before, *sources, *behind], environment, inherited,
                                        target if command == "mount runs" else None)
                if not lacking and not inside:
                    with open(path, encoding="utf-8") as f:
                        self.assertEqual(len(f.read()), 5000)
                    self.assertEqual(sorted(os.listdir(folder)), ["empty", "file", "socket"])
                self.assertIsNone(other.poll())
            finally:
                other.kill()
                other.wait()
                os.close(inherited)
            lines = said.decode(errors="replace").splitlines()
            begun = sum(line.startswith("open_write ") for line in lines)
            self.assertGreater(begun, 0, lines)
            did = {line[:-len(" done")] for line in lines if line.endswith(" done")}
            return did if lines.count("end") == begun else did | {"execve"}

    def test_nothing_is_done_with_all_layers(self):
        for command in COMMANDS:
            with self.subTest(command):
                self.assertEqual(self.attempt(command), set())

    def test_nothing_is_done_without_landlock(self):
        for command in COMMANDS:
            with self.subTest(command):
                self.assertEqual(self.attempt(command, "landlock") - READS_OTHERS,
                                 EXTRACTING if command.startswith("extract") else set())

    def test_extracting_makes_files_in_its_target(self):
        for command in ("extract", "extract runs"):
            with self.subTest(command):
                self.assertEqual(self.attempt(command, inside=True), EXTRACTING)

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
