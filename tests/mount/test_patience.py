#!/usr/bin/env python3
"""Requests wait only for data that they need, and can be cancelled while they wait.

    test_patience.py PROFMOUNT SOURCE CONFINEMENT MAKERS BROKEN_FS

The disk below the source is a gate: as long as it is closed, whoever needs a page of it waits. So nothing here depends
on how quick a machine is: an answer that comes while the gate is closed needed nothing from behind it.
"""
import contextlib
import csv
import os
import pty
import re
import select
import signal
import subprocess
import sys
import tempfile
import unittest

import sources
from below import MAKERS, below
from mounts import (PROFMOUNT, SECONDS, anonymous_bytes, children, error_of, is_mounted, is_running, main, run, served, slurp,
                    wait_until)

SLOW = ("contexts.csv", "functions.csv", "callers.csv", "contexts.tsv", "functions.tsv", "summary.txt", "hotpath.txt",
        "export/flamegraph.svg", "export/flamegraph.html")
sources.MAKERS["large"] = ("make_hpctoolkit", ["database", 6000, 24, 200, 500])  # not all of it is read when mounting
sources.MAKERS["tiny values"] = ("make_hpctoolkit", ["database", 4000, 2, 4000, 0])
sources.MAKERS["long hpcrun"] = ("make_hpcrun", ["measurements", 32, 4000, 500])
sources.MAKERS["long nytprof"] = ("make_nytprof", ["nytprof.out", 2, 0])
sources.MAKERS["long nytprof deflated"] = ("make_nytprof", ["nytprof.out", 8, 6])
sources.MAKERS["long zts"] = ("make_zts", ["store", 2])
sources.MAKERS["long htdump"] = ("make_htdump", ["stream.htdump", 50000])
LONG = ("large", "long hpcrun", "long nytprof", "long nytprof deflated", "long zts", "long htdump")
SANITIZED = b"__asan_" in slurp(sys.argv[1]) or b"__tsan_" in slurp(sys.argv[1])
VALUES = ("profile.db", "cct.db")  # what these need, and names and metrics do not


def start(*args, output=subprocess.DEVNULL, **more):
    return subprocess.Popen(args, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.DEVNULL, **more)


def ends(process):
    """Its exit status once it has ended; its output is discarded."""
    process.communicate(timeout=SECONDS)
    return process.returncode


def wait(*processes):
    """Whether all of them wait, in three consecutive checks without having run in between."""
    looks = []

    def look():
        found = []
        for p in processes:
            with open(f"/proc/{p.pid}/status", encoding="ascii", errors="replace") as f:
                status = f.read()
            found.append(re.search(r"^State:\s*[SD]", status, re.M) and re.findall(r"ctxt_switches:\s*(\d+)", status))
        looks.append(found)
        return all(found) and looks[-3:] == [found] * 3
    return wait_until(lambda: any(p.poll() is not None for p in processes) or look()) and all(p.poll() is None for p in processes)


@contextlib.contextmanager
def slow_mount(*options, warm=True):
    """A mount of a source whose values are behind a closed gate."""
    with below("large") as source:
        with served(*options, source=source.path) as (point, process):
            if warm:
                slurp(os.path.join(point, "metrics.csv"))
                os.listdir(os.path.join(point, "export"))
            source.close_gate(*VALUES)
            try:
                yield source, point, process
            finally:
                source.open_gate()


class Patience(unittest.TestCase):
    def test_what_is_there_is_answered_while_many_wait(self):
        with slow_mount() as (_, point, process):
            readers = [start("cat", os.path.join(point, name)) for name in SLOW * 4]
            self.assertTrue(wait(*readers))
            for command in (["stat", "-f", point], ["ls", point], ["ls", os.path.join(point, "export")],
                            ["cat", os.path.join(point, "metrics.csv")], ["stat", os.path.join(point, "metrics.csv")],
                            ["dd", f"if={point}/metrics.csv", "iflag=direct", "of=/dev/null", "bs=64k"]):
                self.assertEqual(ends(start(*command)), 0, command)
            self.assertNotEqual(ends(start("stat", os.path.join(point, "no-such-file"))), 0)
            # However many wait for a document, it is built once.
            def builds():
                return [what for *_, what in csv.reader(slurp(os.path.join(point, ".progress")).decode().splitlines()[1:])]
            self.assertTrue(wait_until(lambda: set(SLOW) <= set(builds())))
            self.assertEqual(len(builds()), len(set(builds())))
            for r in readers:
                self.assertIsNone(r.poll())
            for r in readers:
                r.kill()
                ends(r)
            self.assertIsNone(process.poll())

    def test_lookups_in_one_directory_go_at_the_same_time(self):
        # The names below by-id/ need the tree, so the first one waits; what is no number is none of them.
        with slow_mount(warm=False) as (_, point, _process):
            first = start("stat", os.path.join(point, "by-id", "1"))
            self.assertTrue(wait(first))
            self.assertNotEqual(ends(start("stat", os.path.join(point, "by-id", "x"))), 0)
            self.assertIsNone(first.poll())
            first.kill()
            ends(first)

    def test_whoever_is_interrupted_is_gone(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
            with slow_mount(warm=False) as (source, point, process):
                contexts = os.path.join(point, "contexts.csv")
                commands = [["stat", contexts], ["cat", contexts], ["cat", contexts], ["ls", os.path.join(point, "contexts")],
                            ["stat", os.path.join(point, "by-id", "1")], ["cat", os.path.join(point, "functions.csv")]]
                stays = start("cat", contexts, output=subprocess.PIPE)
                readers = [start(*c) for c in commands]
                self.assertTrue(wait(*readers, stays), [r.poll() for r in readers])
                for r, c in zip(readers, commands):
                    r.send_signal(number)
                    self.assertEqual(ends(r), -number, c)
                self.assertTrue(wait(stays))
                source.open_gate()
                out, _ = stays.communicate(timeout=SECONDS)
                self.assertEqual(out, run("--cat", source.whole, "contexts.csv").stdout)
                self.assertIsNone(process.poll())

    def test_mounting_and_listing_the_root_read_little(self):
        for name in LONG:
            with below(name) as source:
                before = source.pages_read()
                self.assertEqual(run("--ls", source.path).returncode, 0)
                self.assertLessEqual(source.pages_read() - before, 32 + 5 * len(source.files), name)

    def test_the_list_of_metrics_needs_no_costs(self):
        for name in ("long zts", "long htdump"):  # their metrics are always the same
            with below(name) as source:
                before = source.pages_read()
                self.assertEqual(run("--cat", source.path, "metrics.csv").returncode, 0)
                self.assertLessEqual(source.pages_read() - before, 32 + 5 * len(source.files), name)

    def test_reading_ends_with_the_last_who_wants_it(self):
        for name in LONG:
            with below(name) as source, served(source=source.path) as (point, process):
                source.lag()
                before = source.pages_read()
                readers = [start("cat", os.path.join(point, n)) for n in ("contexts.csv", "functions.csv")]
                self.assertTrue(wait_until(lambda: source.pages_read() > before + 8), name)
                for r in readers:
                    r.send_signal(signal.SIGINT)
                    self.assertEqual(ends(r), -signal.SIGINT, name)
                before = source.pages_read()
                progress = os.path.join(point, ".progress")
                self.assertTrue(wait_until(lambda: slurp(progress).count(b"\n") == 1), name)
                # Some pages are read until the server is sure that nobody asks again; not the whole source.
                self.assertLess(source.pages_read() - before, source.pages() / 2, name)
                source.open_gate()
                self.assertEqual(slurp(os.path.join(point, "contexts.csv")), run("--cat", source.whole, "contexts.csv").stdout)
                self.assertIsNone(process.poll())

    def test_signals_that_a_reader_handles_fail_nothing(self):
        script = ("import os, signal, sys\nn = 0\ndef count(*_):\n    global n\n    n += 1\n"
                  "for s in (signal.SIGALRM, signal.SIGUSR1, signal.SIGCHLD):\n    signal.signal(s, count)\n"
                  "    signal.siginterrupt(s, False)\nprint(flush=True)\nprint(len(open(sys.argv[1], 'rb').read()))\nsys.exit(n == 0)\n")
        with slow_mount() as (source, point, _process):
            reader = start(sys.executable, "-c", script, os.path.join(point, "contexts.csv"), output=subprocess.PIPE)
            reader.stdout.readline()
            self.assertTrue(wait(reader))
            for number in (signal.SIGUSR1, signal.SIGALRM, signal.SIGCHLD):
                reader.send_signal(number)
            self.assertTrue(wait(reader))
            source.open_gate()
            out, _ = reader.communicate(timeout=SECONDS)
            self.assertEqual((reader.returncode, int(out)), (0, len(run("--cat", source.whole, "contexts.csv").stdout)))

    def test_a_signal_behind_a_handled_one_counts(self):
        script = "import os, signal, sys\nsignal.signal(signal.SIGUSR1, lambda *_: 0)\nprint(flush=True)\nos.stat(sys.argv[1])\n"
        with slow_mount() as (_, point, _process):
            reader = start(sys.executable, "-c", script, os.path.join(point, "contexts.csv"), output=subprocess.PIPE)
            reader.stdout.readline()
            self.assertTrue(wait(reader))
            reader.send_signal(signal.SIGUSR1)
            self.assertTrue(wait(reader))
            reader.kill()
            self.assertEqual(ends(reader), -signal.SIGKILL)

    @unittest.skipIf(SANITIZED, "sanitizers keep memory of their own")
    def test_small_values_that_were_read_are_not_kept(self):
        def read_values(contexts):
            n = 0
            for context in contexts:
                folder = os.path.join(point, "by-id", context, "metrics")
                for name in os.listdir(folder):
                    self.assertTrue(slurp(os.path.join(folder, name)))
                    n += 1
            return n
        with tempfile.TemporaryDirectory(prefix="profmount-test-") as folder, \
                served(source=sources.make(MAKERS, "tiny values", folder)) as (point, process):
            contexts = os.listdir(os.path.join(point, "by-id"))
            counts, measured = [], []
            for part in range(8):
                counts.append(read_values(contexts[part::8]))
                measured.append(anonymous_bytes(process))
            self.assertGreater(min(counts), 500)
            # An entry in the cache takes 200 bytes and more; a table of fixed size fills up with 16 bytes a file. What
            # is kept of each file grows with every part; what threads happen to hold jumps by a megabyte now and then.
            grown = sorted((b - a) / n for a, b, n in zip(measured, measured[1:], counts[1:]))
            self.assertLess(grown[len(grown) // 2], 100, measured)

    @unittest.skipIf(SANITIZED, "sanitizers keep memory of their own")
    def test_the_limit_of_the_cache_bounds_memory(self):
        limit, more = 1 << 20, 48 << 20  # what is no cache: threads, the profile's own tables
        with tempfile.TemporaryDirectory(prefix="profmount-test-") as folder, \
                served("-o", f"cache={limit}", source=sources.make(MAKERS, "tiny values", folder)) as (point, process):
            found = subprocess.run(["grep", "-rc", "", point], stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS)
            self.assertEqual((found.returncode, found.stderr), (0, b""))
            self.assertGreater(found.stdout.count(b"\n"), 20000)
            self.assertLess(anonymous_bytes(process), limit + more)

    def test_a_command_ends_when_it_is_interrupted(self):
        for command, *more in (["--cat", "contexts.csv"], ["--check"], ["--extract", "out", "contexts.csv"]):
            # A disk of its own for each: what a command that was killed asked for in advance keeps the disk busy.
            with below("large") as source, tempfile.TemporaryDirectory() as folder:
                source.close_gate(*VALUES)
                try:
                    process = subprocess.Popen([PROFMOUNT, command, source.path, *more], cwd=folder,
                                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                               stderr=subprocess.DEVNULL, env={**os.environ, "TMPDIR": folder})
                    self.assertTrue(wait(process), command)
                    process.send_signal(signal.SIGINT)
                    self.assertEqual(ends(process), -signal.SIGINT, command)
                    self.assertLessEqual(set(os.listdir(folder)), {"out"}, command)
                finally:
                    source.open_gate()

    def test_mounting_ends_when_it_is_interrupted(self):
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGKILL):
            with below("long hpcrun") as source, tempfile.TemporaryDirectory(prefix="profmount-test-") as point:
                source.close_gate("")
                process = start(PROFMOUNT, source.path, point)
                self.assertTrue(wait_until(lambda: children(process.pid)))
                server = children(process.pid)[0]
                self.assertTrue(wait(process))
                process.send_signal(number)
                self.assertEqual(ends(process), -number)
                self.assertTrue(wait_until(lambda: not is_running(server)), number)
                source.open_gate()
                self.assertFalse(is_mounted(point))

    def test_whoever_waits_sees_how_far_it_is(self):
        for options in ((), ("-s",), ("-o", "follow")):
            with slow_mount(*options) as (source, point, process):
                progress = os.path.join(point, ".progress")
                self.assertNotIn(".progress", os.listdir(point))
                reader = start("cat", os.path.join(point, "contexts.csv"))
                other = start("cat", os.path.join(point, "export", "flamegraph.svg"))

                def builds():
                    header, *rows = slurp(progress).decode().splitlines()
                    self.assertEqual(header, "done,total,seconds,what")
                    return {what: (done, total, float(seconds)) for done, total, seconds, what in csv.reader(rows)}
                self.assertTrue(wait_until(lambda: {"contexts.csv", "export/flamegraph.svg"} <= set(builds())), slurp(progress))
                for done, total, seconds in builds().values():
                    self.assertLessEqual(int(done or 0), int(total or 0))
                    self.assertGreaterEqual(seconds, 0)
                first = builds()["contexts.csv"]
                self.assertTrue(wait_until(lambda: builds()["contexts.csv"][2] > first[2]))
                # A snapshot stays what it is for who has it open; the others see what comes.
                with open(progress, "rb") as held:
                    self.assertEqual(os.fstat(held.fileno()).st_size, len(os.pread(held.fileno(), 1 << 20, 0)))
                    source.open_gate()
                    self.assertEqual((ends(reader), ends(other)), (0, 0))
                    self.assertTrue(wait_until(lambda: builds() == {}))
                    self.assertIn(b"contexts.csv\n", held.read())
                for command in (["cp", progress, "/dev/null"], ["cat", progress], ["ls", "-l", progress], ["tail", progress]):
                    self.assertEqual(ends(start(*command)), 0, command)
                for _ in range(3):
                    self.assertNotEqual(error_of(os.readlink, progress), 0)
                    self.assertEqual(os.stat(progress).st_size, len(b"done,total,seconds,what\n"))
                self.assertIsNone(process.poll())

    def test_commands_show_on_a_terminal_how_far_they_are(self):
        line = re.compile(rb"\r\x1b\[K\d+ s")
        try:
            for end in pty.openpty():
                os.close(end)
        except OSError as e:
            self.skipTest(f"there are no terminals here (/dev/pts): {e}")

        def begin(*args, **streams):
            master, terminal = pty.openpty()
            process = subprocess.Popen([PROFMOUNT, *args], stdin=subprocess.DEVNULL, stderr=terminal,
                                       **{k: terminal if v == "terminal" else v for k, v in streams.items()})
            os.close(terminal)
            return process, master

        def said(master, until=None):
            out = b""
            with contextlib.suppress(OSError):  # how a terminal ends
                while not (until and until.search(out)) and select.select([master], [], [], SECONDS)[0]:
                    out += os.read(master, 4096)
            return out
        with below("large") as source, tempfile.TemporaryDirectory(prefix="profmount-test-") as folder:
            target = os.path.join(folder, "out")
            for args, stdout in ((["--cat", source.path, "contexts.csv"], subprocess.DEVNULL),
                                 (["--cat", source.path, "metrics.csv"], "terminal"),
                                 (["--extract", source.path, target, "contexts.csv"], subprocess.DEVNULL),
                                 (["--check", source.path], "terminal")):
                source.close_gate("meta.db", *VALUES)
                process, master = begin(*args, stdout=stdout)
                first = said(master, line)
                self.assertRegex(first, line, args)
                source.open_gate()
                rest = said(master)
                self.assertEqual(process.wait(SECONDS), 0, args)
                os.close(master)
                # The line is gone: behind it stands what was to be written, and nothing else.
                shown = (first + rest).rsplit(b"\r\x1b[K", 1)[1]
                expected = b"1 files\r\n" if "--extract" in args else run(*args[:1], source.whole, *args[2:]).stdout.replace(
                    source.whole.encode(), source.path.encode())
                self.assertEqual(shown, b"" if "contexts.csv" in args and "--cat" in args else
                                 expected.replace(b"\n", b"\r\n") if stdout == "terminal" else expected, args)

    def test_the_server_ends_while_fifty_wait(self):
        for options in ((), ("-s",)):
            with slow_mount(*options) as (_, point, process):
                readers = [start("cat", os.path.join(point, (SLOW * 6)[n])) for n in range(50)]
                self.assertTrue(wait(*readers))
                process.terminate()
                process.wait(SECONDS)
                self.assertFalse(is_mounted(point))
                for r in readers:
                    self.assertNotEqual(ends(r), 0)

    def test_a_lazy_unmount_lets_fifty_have_their_answers(self):
        with slow_mount() as (source, point, process):
            # They stand in the mount: whoever is late finds it although it has no name any more.
            readers = [start("cat", (SLOW * 6)[n], cwd=point) for n in range(50)]
            self.assertTrue(wait(*readers))
            self.assertNotEqual(ends(start("fusermount3", "-u", point)), 0)
            helpers = children(process.pid)
            self.assertTrue(helpers)
            self.assertEqual(ends(start("fusermount3", "-u", "-z", point)), 0)
            source.open_gate()
            for r in readers:
                self.assertEqual(ends(r), 0)
            self.assertEqual(process.wait(SECONDS), 0)
            self.assertTrue(wait_until(lambda: not any(is_running(pid) for pid in helpers)))


if __name__ == "__main__":
    main()
