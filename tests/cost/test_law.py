#!/usr/bin/env python3
"""The law of cost can be broken: what run.py compares, and what is counted for work that is known to be quadratic.

    test_law.py PLANTED

EMULATOR in the environment is what runs programs of another machine (tests/machines).
"""
import os
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from cases import Counts, counts_of
from run import check, compare

PLANTED = [*os.environ.get("EMULATOR", "").split(), os.path.abspath(sys.argv[1])]
SMALL, LARGE = 100_000, 200_000
MILLION = 1_000_000
FOLDER = tempfile.TemporaryDirectory(prefix="profmount-test-")


def found(work, own=0, peak=0, unasked=0):
    return {"(check)": Counts(work, own, peak, unasked)}


def wrong(small, large, weights=(MILLION, 2 * MILLION)):
    return list(compare(small, large, weights))


class Made:
    """A case whose work is a function of its size."""
    def __init__(self, work):
        self.work = work

    def write(self, size):
        path = os.path.join(FOLDER.name, str(size))
        with open(path, "wb") as f:
            f.truncate(size)
        return path

    def counts(self, path):
        return found(self.work(os.path.getsize(path)))


class Compared(unittest.TestCase):
    def test_what_grows_as_its_source_is_allowed(self):
        self.assertEqual(wrong(found(10 * MILLION), found(20 * MILLION)), [])
        self.assertEqual(wrong(found(10 * MILLION), found(22.9 * MILLION)), [])

    def test_what_grows_faster_is_not(self):
        for power in (1.25, 1.5, 2, 3):
            with self.subTest(power=power):
                self.assertEqual(len(wrong(found(10 * MILLION), found(int(10 * MILLION * 2 ** power)))), 1)

    def test_a_document_may_cost_its_own_bytes(self):
        self.assertEqual(wrong(found(10 * MILLION, own=1000), found(40 * MILLION, own=4000)), [])
        self.assertEqual(len(wrong(found(10 * MILLION, own=1000), found(40 * MILLION, own=2000))), 1)

    def test_a_step_is_not_growth(self):
        self.assertEqual(check(Made(lambda n: 10 * n + (5 * MILLION if n > 1.5 * MILLION else 0)))[1], [])
        self.assertEqual(len(check(Made(lambda n: 10 * n + 2 * n * n / MILLION))[1]), 1)

    def test_what_is_refused_and_what_is_small_is_not_compared(self):
        self.assertEqual(wrong(found(10 * MILLION), found(90 * MILLION, own=-12)), [])
        self.assertEqual(wrong(found(1000), found(900_000)), [])

    def test_memory_grows_as_its_source(self):
        self.assertEqual(wrong(found(1, peak=100 << 20), found(1, peak=200 << 20)), [])
        self.assertEqual(len(wrong(found(1, peak=100 << 20), found(1, peak=400 << 20))), 1)

    def test_work_that_nobody_can_end_does_not_grow(self):
        work = (10 * MILLION, 20 * MILLION)
        for unasked, expected in (((1000, 2000), 0), ((3 * MILLION, 6 * MILLION), 1), ((9 * MILLION, 9 * MILLION), 0)):
            self.assertEqual(len(wrong(*[found(w, unasked=u) for w, u in zip(work, unasked)])), expected)

    def test_sizes_that_are_not_twice_each_other_are_weighed(self):
        self.assertEqual(wrong(found(10 * MILLION), found(30 * MILLION), (MILLION, 3 * MILLION)), [])
        self.assertEqual(len(wrong(found(10 * MILLION), found(30 * MILLION), (MILLION, 1.5 * MILLION))), 1)


class Counted(unittest.TestCase):
    def planted(self, kind):
        return wrong(*[counts_of([*PLANTED, kind, str(n)]) for n in (SMALL, LARGE)], (SMALL, LARGE))

    def test_linear_work_is_allowed(self):
        self.assertEqual(self.planted("linear"), [])

    def test_a_quadratic_loop_is_seen(self):
        self.assertRegex("".join(self.planted("quadratic")), r"^\(check\): .* [34]\.\d times$")

    def test_quadratic_copying_is_seen(self):
        self.assertRegex("".join(self.planted("copies")), r"^\(check\): .* [34]\.\d times$")

    def test_quadratic_memory_is_seen(self):
        self.assertRegex("".join(self.planted("memory")), r"^memory: ")

    def test_work_without_a_question_is_seen(self):
        asked, unasked = (counts_of([*PLANTED, kind, str(LARGE)])["(check)"].unasked for kind in ("linear", "unasked"))
        self.assertLess(asked, LARGE / 10)
        self.assertGreater(unasked, LARGE)

    def test_counting_is_not_idle(self):
        self.assertGreater(counts_of([*PLANTED, "linear", str(SMALL)])["(check)"].work, SMALL)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
