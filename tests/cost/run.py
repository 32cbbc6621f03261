#!/usr/bin/env python3
"""The law of cost: what --check, a listing and each document take is at most a constant times the bytes of the source
and of the document.

    tests/cost/run.py BUILD [CASE…]         BUILD was set up with -Dcount=true

Each costly case (make_costly.c) is written at 1 and at 2 MB, and what it takes is counted, not timed: work per byte of
source and document must not grow by more than 15 %, which is 2.3 times for twice the size; where it does, a source of 4 MB has the
last word. Ends with `N passed, N failed`. test_law.py shows that it can fail.

The same for how long nobody asks whether the work is still wanted (pm_work_cancelled): between two questions there may be
20 ms of work, or more if that does not grow with the source. `addr2line -e BUILD/tests/cost/count 0x…` tells where it was.
"""
import os
import subprocess
import sys

import cases

MOST = 1.15
SIZES = (1_000_000, 2_000_000)
LONGER = 4_000_000  # decides where a hash table that has just doubled may have made the difference
FEW_BYTES = 4 << 20  # of a document: they do not show in what is in memory


def bytes_of(path):
    if os.path.isfile(path):
        return os.path.getsize(path)
    return sum(os.path.getsize(os.path.join(d, n)) for d, _, names in os.walk(path) for n in names)


def own_of(counted, what):
    """The bytes of a document. For Parquet with a dictionary, the rows of its table are counted."""
    table = counted.get(what.removesuffix(".parquet") + ".csv") if what.endswith(".parquet") else None
    return max(counted[what].own, table.own if table else 0)


def compare(small, large, weights):
    """Messages about documents that cost more than their share."""
    for what, now in large.items():
        if what not in small or now.own < 0 or now.work < cases.FREE:
            continue
        was = small[what]
        # A document that has a bound of its own does not grow with the source that is read for it.
        weight = max(weights[1] / weights[0], own_of(large, what) / max(own_of(small, what), 1))
        if now.work > MOST * weight * max(was.work, 1):
            yield f"{what}: {was.work:,} → {now.work:,} for {was.own:,} → {now.own:,} bytes: {now.work / max(was.work, 1):.1f} times"
        if now.unasked > cases.FREE and now.unasked > MOST * was.unasked:
            yield f"{what}: {was.unasked:,} → {now.unasked:,} without asking whether it is wanted, at 0x{now.where}"
    # What is in memory is of the source, or one of the documents.
    peaks, owns = ([max(getattr(c, what) for c in counted.values()) for counted in (small, large)] for what in ("peak", "own"))
    weight = max(weights[1] / weights[0], owns[1] / max(owns[0], 1) if owns[0] > FEW_BYTES else 0)
    if peaks[1] > 64 << 20 and peaks[1] > MOST * weight * peaks[0]:
        yield f"memory: {peaks[0]:,} → {peaks[1]:,} bytes"


def check(case):
    def counted(size):
        path = case.write(size)
        return case.counts(path), bytes_of(path)

    try:
        (small, few), (large, many) = (counted(size) for size in SIZES)
        wrong = list(compare(small, large, (few, many)))
        if wrong:
            longer, most = counted(LONGER)
            wrong = list(compare(small, longer, (few, most))) and wrong
    except subprocess.TimeoutExpired:
        return "", [f"more than {cases.LIMIT_SECONDS} seconds"]
    return f": check {large['(check)'].work / many:.0f} a byte, {len(large)} counted", wrong


if __name__ == "__main__":
    sys.exit(cases.run(sys.argv[1], sys.argv[2:], check))
