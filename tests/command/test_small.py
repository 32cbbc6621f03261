#!/usr/bin/env python3
"""Sources of a few lines, each of what was once wrong, and what their documents have to say.

    test_small.py PROFMOUNT
"""
import csv
import gzip
import io
import json
import os
import subprocess
import sys
import tempfile
import unittest

PROFMOUNT = os.path.abspath(sys.argv[1])


class Small(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="profmount-small-")
        self.addCleanup(scratch.cleanup)
        self.folder = scratch.name

    def source(self, name, data):
        path = os.path.join(self.folder, name)
        with open(path, "wb") as file:
            file.write(data if isinstance(data, bytes) else (data if isinstance(data, str) else json.dumps(data)).encode())
        return path

    def cat(self, source, name, *options):
        done = subprocess.run([PROFMOUNT, *options, "--cat", source, name], capture_output=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.decode()

    def rows(self, source, name, *options):
        return list(csv.DictReader(io.StringIO(self.cat(source, name, *options))))

    def test_ticks_of_lines_that_are_no_hits_are_damage(self):
        """Of the nodes' ticks, b has one too many, and c no hits at all."""
        nodes = [{"id": i + 1, "callFrame": {"functionName": name, "scriptId": "1", "url": "a.js", "lineNumber": 0, "columnNumber": 0},
                  "positionTicks": [{"line": 2, "ticks": 3}, {"line": 5, "ticks": 2}]} for i, name in enumerate("abc")]
        nodes[0]["hitCount"], nodes[1]["hitCount"] = 7, 4
        source = self.source("ticks.cpuprofile", {"nodes": nodes, "startTime": 0, "endTime": 9})
        self.assertEqual({r["line"]: r["hits_excl"] for r in self.rows(source, "lines.csv")}, {"2": "6", "5": "3", "": "2"})
        self.assertEqual([r["what"] for r in self.rows(source, "damage.csv")],
                         ["6 ticks of lines are more than their function has hits: these are left out"])

    def test_what_is_idle_is_said_where_threads_are_busy(self):
        """The kernel's idle loop is sampled like work: kinds say that a fourth is idle, and so does the line above."""
        samples = [("swapper", 0, "default_idle") if i % 4 == 0 else ("app", 42, "work") for i in range(20)]
        source = self.source("idle.txt", "\n".join(
            f"{comm} {pid} [000] {1 + i * 0.001:.6f}:    1000000 cpu-clock: \n\tffffffff81000000 {name}+0x1 ([kernel.kallsyms])\n"
            for i, (comm, pid, name) in enumerate(samples)))
        lines = self.cat(source, "summary.txt").splitlines()
        self.assertIn("busy     20 ms of 2 threads × 19 ms: 52.6%, of which 5 ms in category idle", lines)
        self.assertIn("kinds    program 75.0%, idle 25.0%", lines)

    def test_texts_speak_of_tables_that_are_there(self):
        """With one thread there is no imbalance.csv."""
        source = self.source("threads.folded", "app-7/7;f 3\napp-7/7;g 4\n")
        self.assertNotIn("imbalance.csv", self.cat(source, "recipes.txt"))
        source = self.source("threads.folded", "app-7/7;f 3\napp-7/8;g 4\n")
        self.assertIn("imbalance.csv", self.cat(source, "recipes.txt"))
        self.assertEqual(len(self.rows(source, "imbalance.csv")), 4)

    def test_rounded_times_of_events_are_said(self):
        events = [{"type": kind, "frame": 0, "at": at} for kind, at in (("O", 0), ("C", 1.0000000004), ("O", 2), ("C", 2.5))]
        profile = {"type": "evented", "name": "p", "unit": "seconds", "startValue": 0, "endValue": 3, "events": events}
        whole = {"$schema": "https://www.speedscope.app/file-format-schema.json", "shared": {"frames": [{"name": "f"}]}, "profiles": [profile]}
        said = "1 times of events are between two nanoseconds"
        source = self.source("times.speedscope.json", whole)
        self.assertIn(said, self.cat(source, "summary.txt"))
        self.assertEqual(self.rows(source, "functions.csv")[0]["time_ns_excl"], "1500000000")
        events[1]["at"] = 1
        self.assertNotIn("between two", self.cat(self.source("times.speedscope.json", whole), "summary.txt"))

    def test_schema_may_be_where_the_head_of_the_file_ends(self):
        """Files are recognised by their first 4 KiB, of which `$schema` is whole, in part, or none."""
        profile = {"type": "sampled", "name": "p", "unit": "none", "startValue": 0, "endValue": 1, "samples": [[0]], "weights": [1]}
        schema = '"$schema": "https://www.speedscope.app/file-format-schema.json"}'
        for before in range(4000, 4101, 10):
            text = json.dumps({"profiles": [profile], "shared": {"frames": [{"name": "f"}]}})[:-1] + ", "
            source = self.source("late.speedscope.json", text + " " * (before - len(text)) + schema)
            self.assertEqual([r["name"] for r in self.rows(source, "functions.csv")], ["f"], before)

    def test_what_says_the_format_may_stand_behind_the_head(self):
        """DevTools' metadata, other writers' order of keys: more is read of a text that no format is sure of."""
        long = "y" * 9000
        event = {"ph": "X", "name": "f", "ts": 1, "dur": 5, "pid": 1, "tid": 1}
        trace = json.dumps({"metadata": {"notes": long}, "traceEvents": [event]})
        sampled = {"type": "sampled", "name": "p", "unit": "none", "startValue": 0, "endValue": 1, "samples": [[0]], "weights": [1]}
        node = {"id": 1, "callFrame": {"functionName": "f", "scriptId": "1", "url": "a.js", "lineNumber": 0, "columnNumber": 0}, "hitCount": 1}
        for name, data in (
                ("Trace-1.json", trace), ("Trace-2.json", gzip.compress(trace.encode())), ("Trace-3.json", "\ufeff" + trace),
                ("profile.json", {"shared": {"frames": [{"name": "f"}]}, "notes": long, "profiles": [sampled],
                                  "$schema": "https://www.speedscope.app/file-format-schema.json"}),
                ("node.json", {"title": long, "nodes": [node], "startTime": 0, "endTime": 9})):
            source = self.source(name, data)
            self.assertEqual([r["name"] for r in self.rows(source, "functions.csv")], ["f"], name)
        runs = subprocess.run([PROFMOUNT, "--ls", self.folder, "runs"], capture_output=True, check=True).stdout.decode()
        self.assertIn("Trace-1.json", runs)
        for name, data in (
                ("log.txt", f"{long}\n" * 200), ("manual.html", f"{long}\nevents: Ir\nfn=f\n1 5\n"), ("other.json", {"notes": long, "nodes": [1]}),
                ("words.json", {"notes": long, "said": "it took 12 items: all fine"}), ("short.json", {"said": "it took 12 items: all fine"}),
                ("page.html", "<html>" + long + " Chapter 3 Introduction: it\n")):
            done = subprocess.run([PROFMOUNT, "--cat", self.source(name, data), "summary.txt"], capture_output=True, check=False)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(b"is not a profile of a known format", done.stderr)

    def test_files_of_other_tools_are_named(self):
        """JSON is the same with white space."""
        firefox = {"meta": {"interval": 1, "product": "Firefox"}, "libs": [], "threads": []}
        for name, data, says in (
                ("firefox.json", firefox, "of the Firefox Profiler or samply"),
                ("indented.json", json.dumps(firefox, indent=2), "of the Firefox Profiler or samply"),
                ("firefox.json.gz", gzip.compress(json.dumps(firefox, indent=2).encode()), "of the Firefox Profiler or samply"),
                ("dhat.out", json.dumps({"dhatFileVersion": 2, "mode": "heap"}, indent=1), "a heap profile of DHAT"),
                ("sample.txt", "Analysis of sampling rg (pid 64751) every 1 millisecond\nProcess:         rg [64751]\n", "macOS' sample"),
                ("out.stacks", "CPU     ID                    FUNCTION:NAME\n  0  64091                        :tick-60s \n", "DTrace"),
                ("vtune.csv", "Function Stack,CPU Time:Self,Module\nTotal,0.0,[Unknown]\n", "VTune"),
                ("gprof.txt", "Flat profile:\n\nEach sample counts as 0.01 seconds.\n", "text of gprof"),
                ("java.hprof.txt", "JAVA PROFILE 1.0.1, created Mon Aug  4 22:22:24 2008\n", "old hprof agent"),
                ("safari.json", '{"version":1,"recording":{"displayName":"a;b ' + "x" * 5000 + '"}}', "a timeline of Safari"),
                ("line.json", '{"label":"a;b ' + "x" * 5000 + '"}', "is not a profile of a known format"),
                ("stackprof.json", json.dumps({"version": 1.2, "mode": "wall"}, indent=2), "stackprof --stackcollapse"),
                ("heap.hprof", b"JAVA PROFILE 1.0.2\0\0\0\0\x08", "a heap dump of Java")):
            done = subprocess.run([PROFMOUNT, "--cat", self.source(name, data), "summary.txt"], capture_output=True, check=False)
            self.assertEqual((done.returncode, done.stderr.decode().count("\n")), (1, 1), name)
            self.assertIn(says, done.stderr.decode())

    def test_times_that_a_chunk_has_twice_count_once(self):
        """rspack writes V8's profile, by its own clock, into one chunk, beside the times by the clock of the trace."""
        profile = {"nodes": [{"id": 1, "callFrame": {"functionName": "(root)"}, "children": [2]}, {"id": 2, "callFrame": {"functionName": "f"}}],
                   "startTime": 470029996751, "endTime": 470029996791, "samples": [2, 2, 2], "timeDeltas": [10, 10, 10]}
        source = self.source("rspack.json", [
            {"ph": "X", "pid": 1, "tid": 1, "name": "build", "ts": 5, "dur": 90},
            {"ph": "P", "pid": 1, "tid": 1, "id": 1, "name": "Profile", "ts": 80, "args": {"data": {"startTime": 0}}},
            {"ph": "P", "pid": 1, "tid": 1, "id": 1, "name": "ProfileChunk", "ts": 81,
             "args": {"data": {"cpuProfile": profile, "timeDeltas": [10, 10, 10]}}}])
        self.assertEqual(self.rows(source, "damage.csv"), [])
        self.assertEqual({r["name"]: r["sampled_ns_excl"] for r in self.rows(source, "functions.csv")}, {"build": "", "f": "20000"})
        self.assertEqual(json.loads(self.cat(source, "info.json"))["duration_ns"], 90000)

    def test_more_events_than_columns_are_refused(self):
        """callgrind: a sum that was to be compared stood before them, and there were no sums yet."""
        events = " ".join(f"e{i}" for i in range(1366))
        source = self.source("many.callgrind", f"# callgrind format\nsummary: 1\nevents: {events}\nfn=f\n1 5\n")
        done = subprocess.run([PROFMOUNT, "--cat", source, "summary.txt"], capture_output=True, check=False)
        self.assertEqual((done.returncode, done.stderr.decode()), (1, f"profmount: {source}+0x1e: has more than 1365 events\n"))

    def test_of_two_times_of_an_event_the_last_one_holds(self):
        profile = {"type": "evented", "name": "p", "unit": "nanoseconds", "startValue": 0, "endValue": 9, "events": [
            {"type": "O", "frame": 0, "at": 0}, {"type": "C", "frame": 0, "at": 7}]}
        whole = json.dumps({"$schema": "https://www.speedscope.app/file-format-schema.json", "shared": {"frames": [{"name": "f"}]},
                            "profiles": [profile]})
        source = self.source("twice.speedscope.json", whole.replace('"at": 7', '"at": 5, "at": 7'))
        self.assertEqual(self.rows(source, "functions.csv")[0]["time_ns_excl"], "7")
        source = self.source("none.speedscope.json", whole.replace('"at": 7', '"at": 7, "at": "x"'))
        self.assertEqual(self.rows(source, "functions.csv")[0]["time_ns_excl"], "9")
        self.assertEqual(len(self.rows(source, "damage.csv")), 2) # an event without a time, a call without an end

    def test_lines_behind_the_head_may_be_damaged(self):
        """Folded stacks are recognised by what of them is whole in the first 4 KiB."""
        for name, end in (("line.txt", "WARNING: lost\nmain;f 1\n"), ("nul.txt", "a\0b;f 1\n"), ("cut.txt", "main;wo")):
            source = self.source(name, "main;f 1\n" * 800 + end)
            self.assertGreaterEqual(int(self.rows(source, "functions.csv")[0]["count_excl"]), 800, name)

    def test_what_little_a_line_has_is_not_rounding(self):
        """Whole numbers are exact: what of a function lies on no known line is one part in 4 * 10^11."""
        source = self.source("little.cpuprofile", {"nodes": [{
            "id": 1, "callFrame": {"functionName": "f", "scriptId": "1", "url": "a.js", "lineNumber": 0, "columnNumber": 0},
            "hitCount": 400000000001, "positionTicks": [{"line": 2, "ticks": 400000000000}]}], "startTime": 0, "endTime": 9})
        self.assertEqual({r["line"]: r["hits_excl"] for r in self.rows(source, "lines.csv")}, {"2": "400000000000", "": "1"})


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
