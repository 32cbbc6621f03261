"""Right answers of real profiles, where the folders that hold them exist beside the project."""
import csv
import io
import os
import subprocess
import sys
import unittest

PROFMOUNT, SHARED = sys.argv[1], sys.argv[2]


def cat(source, name):
    return subprocess.run([PROFMOUNT, "--cat", source, name], check=True, capture_output=True).stdout.decode()


def rows(source, name):
    return list(csv.DictReader(io.StringIO(cat(source, name))))


class Known(unittest.TestCase):
    def source(self, *path):
        source = os.path.join(SHARED, *path)
        if not os.path.exists(source):
            self.skipTest(f"there is no {'/'.join(path)}")
        return source

    def test_what_rank_0_does_alone(self):
        """Rank 0 alone waits in PMPI_Reduce, for 20 % of the run."""
        source = self.source("cases", "hpctoolkit", "cpi-old")
        [row] = [r for r in rows(source, "imbalance.csv") if r["name"].startswith("PMPI_Reduce ")]
        self.assertEqual([row["threads"], row["peers"], row["waiting"], row["slowest_rank"]], ["1", "4", "1", "0"])
        self.assertAlmostEqual(float(row["cputime_sec_incl_mean"]), 0.0104, 4)
        self.assertAlmostEqual(float(row["lost"]), 0.0313, 4)
        first = cat(source, "summary.txt").split("\nWaiting, ")[1].splitlines()[1]
        self.assertRegex(first, r"4\.00 +31\.25 ms .*PMPI_Reduce")

    def test_the_straggler_is_who_works_most(self):
        """Rank 21 spends the longest time in it, most of which is a barrier's."""
        source = self.source("corpus", "hpctoolkit", "data", "viewer-issue-233")
        work = cat(source, "summary.txt").split("\nImbalance of work, ")[1].split("\n\n")[0]
        self.assertRegex(work, r"rank=6/thread=0 .*CalcFBHourglassForceForElems")
        row = max((r for r in rows(source, "imbalance.csv") if r["name"] == "CalcFBHourglassForceForElems"),
                  key=lambda r: float(r["cputime_sec_incl_max"]))
        paths = {t["thread_id"]: t["path"] for t in rows(source, "threads.csv")}
        self.assertIn("/rank=6/thread=0", paths[row["slowest_thread_id"]])
        self.assertAlmostEqual(float(row["lost"]) + float(row["lost"]) / (float(row["imbalance"]) - 1), 1.87, 2)


if __name__ == "__main__":
    done = unittest.main(argv=sys.argv[:1], exit=False).result
    for test, why in done.skipped:
        print(f"SKIPPED: {why}")
    sys.exit(1 if not done.wasSuccessful() else 77 if len(done.skipped) == done.testsRun else 0)
