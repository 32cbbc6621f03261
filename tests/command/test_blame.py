#!/usr/bin/env python3
"""blame.csv, compared with a count over the rows of trace.csv that goes from moment to moment.

    test_blame.py PROFMOUNT SAMPLE
"""
import collections
import csv
import io
import subprocess
import sys
import unittest

PROFMOUNT, SAMPLE = sys.argv[1:3]
WAITS = {"<omp barrier wait>": "omp barrier", "<omp idle>": "omp idle"}


def cat(path):
    return subprocess.run([PROFMOUNT, "--cat", SAMPLE, path], capture_output=True, text=True, timeout=600, check=True).stdout


def rows(path):
    return list(csv.DictReader(io.StringIO(cat(path))))


def count(threads):
    """Charges each interval between two changes on any thread of a rank: {(waiting, function): ns}."""
    charged = collections.Counter()
    for rank in {t["rank"] for t in threads}:
        traces = [[(int(r["time_ns"]), int(r["time_ns"]) + int(r["duration_ns"] or 0), r) for r in rows(t["path"] + "/trace.csv")]
                  for t in threads if t["rank"] == rank]
        moments = sorted({m for trace in traces for begin, end, _ in trace for m in (begin, end)})
        at = [0] * len(traces)
        for begin, end in zip(moments, moments[1:]):
            waits, runs = collections.Counter(), []
            for i, trace in enumerate(traces):
                while at[i] < len(trace) and trace[at[i]][1] <= begin:
                    at[i] += 1
                if at[i] == len(trace) or trace[at[i]][0] > begin:
                    continue
                row = trace[at[i]][2]
                if row["function"] in WAITS:
                    waits[WAITS[row["function"]]] += 1
                elif row["category"] != "idle":
                    runs.append(row["function"])
            for kind, n in waits.items():
                for function in runs or ["(all wait)"]:
                    charged[kind, function] += n * (end - begin) / max(len(runs), 1)
    return charged


class Blame(unittest.TestCase):
    def test_waiting_is_charged_to_what_the_others_run(self):
        said = {(r["waiting"], r["name"]): int(r["wait_ns"]) for r in rows("blame.csv")}
        counted = {key: ns for key, ns in count(rows("threads.csv")).items() if ns >= 1}
        self.assertTrue(counted)
        self.assertEqual(said.keys(), counted.keys())
        for key, ns in counted.items():
            self.assertAlmostEqual(said[key], ns, delta=2, msg=key)

    def test_it_is_the_time_that_threads_wait(self):
        waited = sum(int(r["duration_ns"] or 0) for t in rows("threads.csv") for r in rows(t["path"] + "/trace.csv") if r["function"] in WAITS)
        said = rows("blame.csv")
        self.assertAlmostEqual(sum(int(r["wait_ns"]) for r in said), waited, delta=len(said))
        self.assertAlmostEqual(sum(float(r["share"]) for r in said), 1)

    def test_windows_add_up(self):
        whole = {(r["waiting"], r["name"]): int(r["wait_ns"]) for r in rows("blame.csv")}
        parts = collections.Counter()
        for window in ("0-700ms", "700ms-1.3s", "1.3s-"):
            for r in rows(f"windows/{window}/blame.csv"):
                parts[r["waiting"], r["name"]] += int(r["wait_ns"])
        self.assertEqual(whole.keys(), parts.keys())
        for key, ns in whole.items():
            self.assertAlmostEqual(parts[key], ns, delta=4, msg=key)

    def test_a_context_of_the_function_is_named(self):
        contexts = {r["context_id"]: r for r in rows("contexts.csv")}
        for r in rows("blame.csv"):
            if not r["name"].startswith("("):
                self.assertEqual(contexts[r["context_id"]]["category"], r["category"])

    def test_it_is_offered_where_threads_wait(self):
        self.assertIn("$ head -n 6 blame.csv\n", cat("recipes.txt"))
        self.assertEqual(rows("ignore/category:openmp/blame.csv"), [])
        self.assertNotIn("blame.csv", cat("ignore/category:openmp/recipes.txt"))


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]], verbosity=2)
