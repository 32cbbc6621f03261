#!/usr/bin/env python3
"""What small traces become, as a user reads it.

    test_events.py PROFMOUNT
"""
import csv
import json
import math
import os
import re
import subprocess
import sys
import tempfile
import unittest

PROFMOUNT = os.path.abspath(sys.argv[1])


def event(phase, name, ts, **more):
    return {"ph": phase, "name": name, "pid": 1, "tid": 1, "ts": ts, **more}


class Events(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory(prefix="profmount-events-")
        self.addCleanup(self.folder.cleanup)

    def run_on(self, events, path, *options):
        source = os.path.join(self.folder.name, "trace.json")
        with open(source, "w", encoding="utf-8") as f:
            f.write(events if isinstance(events, str) else json.dumps(events))
        return subprocess.run([PROFMOUNT, *options, "--cat", source, path], capture_output=True, text=True, timeout=600, check=False)

    def cat(self, events, path, *options):
        done = self.run_on(events, path, *options)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def rows(self, events, path, *options):
        return list(csv.DictReader(self.cat(events, path, *options).splitlines()))

    def test_streams_with_text_ids_are_named_by_their_directory(self):
        events = [event("X", "launch", 1, dur=2, cat="cuda_runtime", args={"correlation": 5}),
                  event("X", "gemm", 9, dur=2, cat="kernel", pid="GPU", tid="stream", args={"correlation": 5})]
        stream = self.rows(events, "launches.csv")[0]["stream"]
        paths = [row["path"] for row in self.rows(events, "threads.csv")]
        self.assertIn("threads/" + stream, paths)
        self.assertNotIn("=0", stream)

    def test_lanes_are_no_threads(self):
        events = [event("X", "a", 0, dur=10), event("X", "b", 5, dur=10), event("b", "c", 1, id=1), event("e", "c", 4, id=1)]
        self.assertEqual(json.loads(self.cat(events, "info.json"))["threads"], 1)
        self.assertEqual(len(self.rows(events, "threads.csv")), 3)

    def test_processes_of_async_calls_have_numbers_of_their_own(self):
        events = [event(phase, "a", ts, pid=pid, id=1, id2={"local": 1}) for pid in ("server", 1) for phase, ts in (("b", 1), ("e", 3))]
        self.assertEqual([(row["path"], row["async_ns_excl"]) for row in self.rows(events, "threads.csv")],
                         [("threads/process=2/async=1", "2000"), ("threads/process=1/async=1", "2000")])

    def test_what_is_no_time_has_no_fractions(self):
        # All times are whole microseconds: b may end one after a.
        events = [event("X", "a", 0, dur=5), event("X", "b", 1, dur=5), event("X", "c", 2, dur="unknown"), event("X", "d", 3, dur=1e300)]
        self.assertEqual([row["path"] for row in self.rows(events, "threads.csv")], ["threads/process=1/thread=1"])

    def test_begins_without_ends_nest_on_every_thread(self):
        events = [event("B", name, ts, tid=tid) for tid in range(1, 9) for name, ts in (("outer", 0), ("inner", 1))]
        rows = self.rows(events, "contexts.csv")
        self.assertEqual([(row["name"], row["depth"], row["calls"]) for row in rows], [("outer", "0", "8"), ("inner", "1", "8")])

    def test_the_first_event_of_a_file_ends_a_call(self):
        events = [event("E", "b", 5, args={"n": 3}), event("B", "a", 1), event("E", "a", 1), event("B", "b", 1)]
        rows = self.rows(events, "contexts.csv", "-o", "values=n")
        self.assertEqual([(row["name"], row["depth"], row["n_excl"]) for row in rows], [("b", "0", "3"), ("a", "0", "")])

    def test_counters_are_counters_of_trace_json(self):
        events = [event("X", "f", 0, dur=9), event("C", "mem", 1, args={"a": 1, "b": 2.5, "text": "x"}),
                  event("C", "mem", 3, args={"b": 7}), event("C", "cpu", 3, args={"%": 50})]
        counters = [(e["name"], e["ts"], e["args"]) for e in json.loads(self.cat(events, "export/trace.json"))["traceEvents"]
                    if e["ph"] == "C"]
        self.assertEqual(counters, [("mem", 1, {"a": 1, "b": 2.5}), ("mem", 3, {"b": 7}), ("cpu", 3, {"%": 50})])
        again = self.cat(events + [event("C", "mem", 4, pid=2, args={"b": 8})], "export/trace.json")
        self.assertEqual({e["name"] for e in json.loads(again)["traceEvents"] if e["ph"] == "C"},
                         {"mem (process 1)", "cpu (process 1)", "mem (process 2)"})

    def counters(self, events):
        return [(e["name"], e["args"]) for e in json.loads(self.cat(events, "export/trace.json"))["traceEvents"] if e["ph"] == "C"]

    def test_numbers_of_counters_may_be_texts(self):
        events = [event("X", "f", 0, dur=9), event("C", "cpu", 1, args={"a": "1.5", "b": "", "c": "high", "d": "-2e1"})]
        self.assertEqual(self.counters(events), [("cpu", {"a": 1.5, "d": -20})])

    def test_counters_with_ids_are_apart(self):
        events = [event("X", "f", 0, dur=9), event("C", "heap", 1, id="0x1", args={"a": 1}), event("C", "heap", 2, id="0x2", args={"a": 2}),
                  event("C", "heap", 3, args={"a": 3}), event("C", "heap", 4, id2={"local": 7}, args={"a": 4})]
        self.assertEqual(self.counters(events), [("heap[0x1]", {"a": 1}), ("heap[0x2]", {"a": 2}), ("heap", {"a": 3}),
                                                 ("heap[7]", {"a": 4})])

    def test_names_of_numbers(self):
        events = [event("X", "f", 0, dur=9), event("C", "mem", 1, args={"a\u00b5\n": 1, "a\u00b5": 2}),
                  event("C", "mem", 2, args={"a\u00b5\n": 3})]
        self.assertEqual(self.counters(events), [("mem", {"a\u00b5\n": 1, "a\u00b5": 2}), ("mem", {"a\u00b5\n": 3})])
        self.assertNotIn("raw/counters.csv alone", self.cat(events, "summary.txt"))
        many = [event("X", "f", 0, dur=9), event("C", "mem", 1, args={f"k{i}": i for i in range(70)})]
        self.assertEqual(len(self.counters(many)[0][1]), 64)
        self.assertIn("6 numbers of counters are in raw/counters.csv alone", self.cat(many, "summary.txt"))

    def test_annotations_of_streams_are_no_work_of_a_gpu(self):
        events = [event("X", "f", 0, dur=9), event("X", "step", 0, dur=9, tid="s", cat="gpu_user_annotation"),
                  event("X", "gemm", 1, dur=5, tid="s", cat="kernel")]
        for path in ("functions.csv", "windows/0us-9us/functions.csv"):
            self.assertEqual({row["name"]: (row["category"], row["time_ns_excl"], row["gpu_ns_excl"]) for row in self.rows(events, path)},
                             {"f": ("", "9000", ""), "step": ("", "", "4000"), "gemm": ("gpu", "", "5000")})

    def test_gaps_of_streams(self):
        kernels = [event("X", name, ts, dur=5, pid=0, tid=7, cat="kernel") for name, ts in (("a", 10), ("b", 18), ("c", 40))]
        # What the host ran in the middle of them, 26.5 and 11.5 us after it began: innermost, also where another call has ended.
        host = [event("X", "f", 5, dur=22), event("X", "g", 6, dur=4), event("X", "g", 11, dur=20), event("X", "h", 12, dur=3)]
        # An overlapping call is on a lane of the stream, which is busy then; an annotation is no work.
        events = [*host, *kernels, event("X", "d", 21, dur=9, pid=0, tid=7, cat="gpu_memcpy"), event("X", "step", 5, dur=60, pid=0, tid=7, cat="gpu_user_annotation")]
        path = next(row["path"] for row in self.rows(events, "threads.csv") if row["process"] == "0" and not row["lane"])
        numbers = {row["name"]: row["context_id"] for row in self.rows(events, "contexts.csv") if row["depth"] == "0" or row["name"] == "h"}
        ids = {row["name"]: row["function_id"] for row in self.rows(events, "functions.csv")}
        self.assertEqual(self.rows(events, "gpu-gaps.csv"), [
            {"time_ns": "25000", "duration_ns": "10000", "host_context_id": "", "stream": path,
             "before_id": ids["d"], "after_id": ids["c"], "before": "d", "after": "c"},
            {"time_ns": "10000", "duration_ns": "3000", "host_context_id": numbers["f"], "stream": path,
             "before_id": ids["a"], "after_id": ids["b"], "before": "a", "after": "b"}])
        # The order of contexts is that of the quantity that leads.
        led = self.rows(events, "gpu-gaps.csv", "-o", "metric=gpu_ns")
        self.assertEqual([(row["duration_ns"], row["host_context_id"], row["before"], row["after"]) for row in led],
                         [("10000", "", "d", "c"), ("3000", numbers["f"], "a", "b")])
        self.assertIn("$ head -n 6 gpu-gaps.csv\n", self.cat(events, "recipes.txt"))
        self.assertNotIn("gpu-gaps.csv", self.cat([*host, kernels[0]], "recipes.txt"))

    def test_functions_of_a_thread_add_up(self):
        """Also where it has not all functions of the run."""
        events = [event("X", "f", 0, dur=50), event("X", "g", 0, dur=10, tid=2), event("X", "h", 20, dur=7, tid=2)]
        path = next(row["path"] for row in self.rows(events, "threads.csv") if row["thread"] == "2")
        text = self.cat(events, path + "/functions.txt")
        self.assertIn("(total 17 µs)", text)
        self.assertEqual(re.findall(r"(\S+)%.*(\w)\n", text), [("58.8", "g"), ("41.2", "h")])

    def test_names_in_gaps_are_short(self):
        name = "void at::" + "native::" * 20 + "kernel<float>(int, char*)"
        events = [event("X", "f", 0, dur=9), *(event("X", name, ts, dur=1, tid="s", cat="kernel") for ts in (1, 5))]
        row = self.rows(events, "gpu-gaps.csv")[0]
        self.assertEqual((row["before"], row["before"]), (row["after"], "at::native::native::native::native::nati…tive::kernel<float>"))
        self.assertEqual(self.rows(events, "gpu.csv")[0]["kernel"], name)

    def test_kernels_of_filters_and_windows(self):
        events = [event("X", "f", 0, dur=90), event("X", "step", 5, dur=60, tid="s", cat="gpu_user_annotation"),
                  *(event("X", "gemm", ts, dur=dur, tid="s", cat="kernel") for ts, dur in ((10, 5), (20, 8))),
                  event("X", "fill", 30, dur=2, tid="s", cat="kernel"), event("X", "copy", 40, dur=9, tid="s", cat="gpu_memcpy")]
        names = ("launches", "total_ns", "mean_ns", "max_ns", "operation", "module", "kernel")
        gemm, copy, fill = (("2", "13000", "6500", "8000", "kernel", "kernel", "gemm"), ("1", "9000", "9000", "9000", "copy", "gpu_memcpy", "copy"),
                            ("1", "2000", "2000", "2000", "kernel", "kernel", "fill"))
        for path, rows in (("", [gemm, copy, fill]), ("focus/gemm/", [gemm]), ("ignore/gemm/", [copy, fill]), ("focus/step/", [gemm, copy, fill]),
                           ("hide/step/", [gemm, copy, fill]), ("hide/gemm/", [copy, fill]), ("focus/f/", []), ("windows/0-35us/", [gemm, fill]),
                           ("windows/22us-45us/", [("0", "6000", "", "6000", *gemm[4:]), ("1", "5000", "5000", "5000", *copy[4:]), fill]),
                           ("windows/0-35us/from/fill/", [fill])):
            self.assertEqual([tuple(row[name] for name in names) for row in self.rows(events, path + "gpu.csv")], rows, path)
        self.assertEqual(self.run_on(events, "focus/gemm/gpu-gaps.csv").returncode, 1)

    def test_kernels_of_two_runs(self):
        sources = []
        for name, took in (("old", 5), ("new", 8)):
            sources.append(os.path.join(self.folder.name, name + ".json"))
            with open(sources[-1], "w", encoding="utf-8") as f:
                json.dump([event("X", "f", 0, dur=50), event("X", "gemm", 10, dur=took, pid=0, tid=7, cat="kernel"),
                           event("X", "Memcpy", 20, dur=3, pid=0, tid=7, cat="gpu_memcpy")], f)
        done = subprocess.run([PROFMOUNT, "--cat", "old=" + sources[0], "new=" + sources[1], "--", "compare/new/gpu.csv"], capture_output=True, text=True, timeout=600, check=True)
        self.assertEqual([tuple(row[c] for c in ("total_ns_base", "total_ns_diff", "launches", "mean_ns", "operation", "module", "kernel"))
                          for row in csv.DictReader(done.stdout.splitlines())],
                         [("5000", "3000", "1", "8000", "kernel", "kernel", "gemm"), ("3000", "0", "1", "3000", "copy", "gpu_memcpy", "Memcpy")])

    def test_iterations_are_windows(self):
        events = [event("X", f"ProfilerStep#{i}", 100 * i, dur=80, cat="user_annotation") for i in (1, 2, 3)]
        events += [event("X", "aten::mul", 100 * i + 10, dur=10 * i, cat="cpu_op") for i in (1, 2, 3)]
        step = ("-o", "iterations=ProfilerStep*")
        rows = self.rows(events, "iterations.csv", *step)
        self.assertEqual([(r["iteration"], r["time_ns"], r["duration_ns"]) for r in rows],
                         [("1", "0", "80000"), ("2", "100000", "80000"), ("3", "200000", "80000")])
        for i, row in enumerate(rows, 1):
            of = {f["name"]: f["time_ns_excl"] for f in self.rows(events, row["window"] + "/functions.csv", *step)}
            self.assertEqual(of["aten::mul"], str(10000 * i))
        self.assertEqual(len(self.rows(events, "functions.csv")), 4)

    def test_numbers_of_calls_are_quantities(self):
        events = [event("X", "a", 0, dur=100, args={"bytes": 10, "flops": 1.5, "name": "7"}),
                  event("X", "b", 10, dur=10, args={"bytes": 9007199254740993}),
                  event("B", "b", 10, tid=2, args={"flops": 0.25, "x\u00b5": 1}), event("E", "b", 20, tid=2, args={"flops": 7, "bytes": -5}),
                  event("b", "c", 20, id=1, args={"bytes": 6}), event("e", "c", 25, id=1), event("C", "mem", 30, args={"bytes": 99})]
        names = ("bytes_excl", "bytes_incl", "flops_excl", "flops_incl", "name")
        self.assertEqual([tuple(row[name] for name in names) for row in self.rows(events, "contexts.csv", "-o", r"values=bytes\,flops")],
                         [("10", "9007199254741003", "1.5", "1.5", "a"), ("9007199254740993", "9007199254740993", "", "", "b"),
                          ("-5", "-5", "0.25", "0.25", "b"), ("6", "6", "", "", "c")])
        self.assertEqual([row["flops_incl"] for row in self.rows(events, "threads.csv", "-o", "values=flops")], ["1.5", "0.25", ""])
        self.assertIn("x\u00b5", [row["name"] for row in self.rows(events, "metrics.csv", "-o", "values=x\u00b5")])

    def test_numbers_of_calls_in_windows(self):
        """A number counts where its call begins: added up here from the events, for windows of the run, of a thread and of filters."""
        calls = [(40 * k + i, 30 - 2 * i, k % 3, "fgh"[(i + k // 3) % 3], (i - 2, 0.1 * i + k, 2 ** 62, None, 7)[(k * 8 + i) % 5]) for k in range(400) for i in range(8)]
        events = [event("X", name, at, dur=dur, tid=tid, args={} if n is None else {"n": n}) for at, dur, tid, name, n in calls]
        self.assertEqual(len(self.rows(events, "threads.csv")), 3)
        for first, end in ((0, 15990), (0, 8002), (8002, 15990), (17, 361), (362, 363)):
            inside = [c for c in calls if first <= c[0] < end]
            for where, parts in (("", ("",)), ("", ("focus/g/", "ignore/g/")), ("threads/process=1/thread=2/", ("",))):
                must, is_ = {}, {}
                for _, _, tid, name, n in inside:
                    if n is not None and tid in ((2,) if where else (0, 1, 2)):
                        must.setdefault(name, []).append(n)
                for part in parts:
                    for row in self.rows(events, f"{where}windows/{first}us-{'' if end == 15990 else f'{end}us'}/{part}functions.csv", "-o", "values=n"):
                        if row["n_excl"]:
                            is_.setdefault(row["name"], []).append(float(row["n_excl"]))
                self.assertEqual(must.keys(), is_.keys(), (first, end, where, parts))
                for name, numbers in must.items():
                    self.assertAlmostEqual(math.fsum(is_[name]) / math.fsum(numbers), 1, delta=1e-12, msg=(first, end, where, parts, name))

    def test_values_that_are_not_there_are_refused(self):
        events = [event("X", "a", 0, dur=100, args={"bytes": 10, "bytes": 11, "name": "7"})]
        done = self.run_on(events, "functions.csv", "-o", r"values=bytes\,size")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, "no call has a number `size` in its args, for -o values; there are: bytes\n$")
        self.assertIn("1 to 64 fields", self.run_on(events, "functions.csv", "-o", r"values=\,").stderr)
        twice = json.dumps(events).replace('"name": "7"', '"bytes": 12')
        self.assertEqual(self.rows(twice, "functions.csv", "-o", "values=bytes")[0]["bytes_excl"], "12")
        self.assertIn("calls have no fields for -o values", self.run_on("a;b 1\n", "functions.csv", "-o", "values=bytes,format=folded").stderr)

    @staticmethod
    def sampled():
        def node(number, name, line, **more):
            return {"id": number, "callFrame": {"functionName": name, "scriptId": 3, "url": "x.js" if line else "", "lineNumber": line - 1,
                                                "columnNumber": 2}, **more}
        nodes = [node(1, "(root)", 0), node(2, "(program)", 0, parent=1), node(3, "onclick", 5, parent=1), node(4, "render", 10, parent=3)]
        return [event("P", "Profile", 1000, id="0x1", args={"data": {"startTime": 1000}}),
                event("P", "ProfileChunk", 1200, id="0x1", tid=9, args={"data": {
                    "cpuProfile": {"nodes": nodes, "samples": [2, 3, 4, 4]}, "timeDeltas": [10, 100, 50, 50], "lines": [0, 5, 10, 11]}}),
                event("P", "ProfileChunk", 1400, id="0x1", tid=9, args={"data": {
                    "cpuProfile": {"nodes": [node(5, "layout", 20, parent=4)], "samples": [5, 4, 3, 77, 2]},
                    "timeDeltas": [50, 50, 50, 30, 10], "endTime": 1450}})]

    def test_cpu_profiles_are_lanes_of_their_threads(self):
        events = [event("X", "RunTask", 1000, dur=500), event("X", "Profile", 1010, dur=400), *self.sampled()]
        for path in ("contexts.csv", "windows/0us-500us/contexts.csv"):
            self.assertEqual([tuple(row[c] for c in ("depth", "time_ns_incl", "sampled_ns_excl", "sampled_ns_incl", "calls", "line", "name"))
                              for row in self.rows(events, path)],
                             [("0", "500000", "", "", "1", "", "RunTask"), ("1", "400000", "", "", "1", "", "Profile"),
                              ("0", "", "150000", "150000", "2", "", "(program)"), ("0", "", "80000", "280000", "1", "5", "onclick"),
                              ("1", "", "150000", "200000", "1", "10", "render"), ("2", "", "50000", "50000", "1", "20", "layout")])
        trace = self.rows(events, "threads/process=1/thread=1/sampled=1/trace.csv")
        self.assertEqual([tuple(row[c] for c in ("time_ns", "duration_ns", "self_ns", "depth", "name")) for row in trace],
                         [("10000", "100000", "100000", "0", "(program)"), ("110000", "280000", "80000", "0", "onclick"),
                          ("160000", "200000", "150000", "1", "render"), ("260000", "50000", "50000", "2", "layout"),
                          ("400000", "50000", "50000", "0", "(program)")])
        self.assertEqual(json.loads(self.cat(events, "info.json"))["threads"], 1)
        self.assertIn("Samples by sampled_ns_excl", self.cat(events, "summary.txt"))
        self.assertIn("1 samples of nodes that are not there", self.cat(events, "damage.csv"))

    def test_cpu_profiles_alone_are_samples(self):
        events = self.sampled() + [event("M", "thread_name", 0, args={"name": "Main"})]
        self.assertEqual(json.loads(self.cat(events, "info.json"))["contexts_are"], "samples")
        self.assertEqual({row["name"]: row["time_ns_excl"] for row in self.rows(events, "functions.csv")},
                         {"onclick": "80000", "render": "150000", "layout": "50000", "(program)": "150000"})
        self.assertEqual([(row["path"], row["thread_name"], row["samples"]) for row in self.rows(events, "threads.csv")],
                         [("threads/process=1/thread=1", "Main", "8")])

    def test_samples_with_stack_frames(self):
        frames = {"1": {"name": "[root]", "category": "root"}, "2": {"name": "global", "parent": 1, "funcLine": "1"},
                  "3": {"name": "render", "parent": "2", "funcLine": "10"}, "5": {"name": "loop", "parent": 5}}
        samples = [{"cpu": "-1", "ts": ts, "pid": 1, "tid": tid, "weight": "1", "sf": sf}
                   for ts, tid, sf in (("100", "1", 3), (250, 1, "2"), (300, 2, 3), (310, 1, 9), (320, 1, 3), (330, 1, 1), (400, 2, 5), (450, 2, 2))]
        for events in ([], [event("X", "f", 100, dur=300)]):
            for text in (json.dumps({"traceEvents": events, "samples": samples, "stackFrames": frames}),
                         json.dumps({"stackFrames": frames, "samples": samples, "traceEvents": events})):
                quantity = "sampled_ns" if events else "time_ns"
                self.assertEqual({(row["name"], row["line"], row[quantity + "_excl"], row[quantity + "_incl"])
                                  for row in self.rows(text, "functions.csv") if row["name"] != "f"},
                                 {("render", "10", "260000", "260000"), ("global", "1", "60000", "320000"),
                                  ("[root]", "", "0" if events == [] else "", "320000"), ("loop", "", "50000", "50000")})
                self.assertEqual([row["path"] for row in self.rows(text, "threads.csv") if row[quantity + "_incl"]],
                                 [f"threads/process=1/thread={tid}" + ("/sampled=1" if events else "") for tid in (1, 2)])
                self.assertIn("1 samples of nodes that are not there", self.cat(text, "damage.csv"))

    def test_raw_events_have_what_no_column_has(self):
        members = {"tts": 5, "tdur": 2.50, "s": "p \" \n", "flow_in": True, "sf": {"a": [1]}, "bind_id": "0x1"}
        rows = self.rows([event("X", "f", 0, dur=9, args={"a": 1}, **members), event("X", "g", 1, dur=2)], "raw/events.csv")
        self.assertEqual([(json.loads(row["more"] or "{}"), row["args"]) for row in rows], [(members, '{"a": 1}'), ({}, "")])

    def test_raw_texts_have_a_most(self):
        long = 3 << 20
        events = [event("X", "n" * long, 0, dur=9), event("X", "f", 1, dur=2, cat="c" * long, args={"a": "b" * long}),
                  event("i", "last", 2, pid="p" * long, id="i" * long)]
        csv.field_size_limit(2 * long)
        rows = self.rows(events, "raw/events.csv")
        self.assertEqual([tuple(len(row[c]) for c in ("name", "cat", "args", "pid", "id")) for row in rows],
                         [(1 << 20, 0, 0, 1, 0), (1, 1 << 20, 0, 1, 0), (4, 0, 0, 0, 0)])
        self.assertEqual([row["seq"] for row in self.rows(events, "raw/instants.csv")], ["2"])

    def test_deep_samples_end_in_bounded_traces(self):
        nodes = [{"id": 2 * i + k, "callFrame": {"functionName": f"f{k}", "url": ""}, **({"parent": 2 * i + k - 2} if i else {})}
                 for i in range(2000) for k in (0, 1)]
        whole = {"nodes": nodes, "samples": [3998, 3999] * 300, "timeDeltas": [1] * 600, "startTime": 0, "endTime": 700}
        events = [event("X", "a", 0, dur=700), event("I", "CpuProfile", 700, args={"data": {"cpuProfile": whole}})]
        self.assertEqual({row["name"]: row["sampled_ns_excl"] for row in self.rows(events, "functions.csv")},
                         {"a": "", "f0": "300000", "f1": "399000"})
        self.assertIn("in no trace: their stacks are too deep", self.cat(events, "damage.csv"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
