#!/usr/bin/env python3
"""The law of cost: what --check, a listing and each document take is at most a constant times the bytes of the source
and of the document.

    tests/cost/run.py BUILD [CASE…]         BUILD was set up with -Dcount=true

Each costly case (make_costly.c) is written at 1 and at 2 MB, and what it takes is counted, not timed: work per byte of
source and document must not grow by more than 15 %, which is 2.3 times for twice the size. Ends with `N passed, N
failed`. test_law.py shows that it can fail.
"""
import os
import subprocess
import sys

import cases

MOST = 1.15
SIZES = (1_000_000, 2_000_000)


def bytes_of(path):
    if os.path.isfile(path):
        return os.path.getsize(path)
    return sum(os.path.getsize(os.path.join(d, n)) for d, _, names in os.walk(path) for n in names)


def compare(small, large, weights):
    """Lines about what costs more than it weighs."""
    for what, (work, own, _) in large.items():
        if what not in small or own < 0 or work < cases.FREE:
            continue
        was, had, _ = small[what]
        # A document that has a bound of its own does not grow with the source that is read for it.
        weight = max(weights[1] / weights[0], own / max(had, 1))
        if work > MOST * weight * max(was, 1):
            yield f"{what}: {was:,} → {work:,} for {had:,} → {own:,} bytes: {work / max(was, 1):.1f} times"
    peaks = [max(peak for _, _, peak in counted.values()) for counted in (small, large)]
    if peaks[1] > 64 << 20 and peaks[1] / weights[1] > MOST * peaks[0] / weights[0]:
        yield f"memory: {peaks[0]:,} → {peaks[1]:,} bytes"


def check(case):
    found, weights = [], []
    try:
        for size in SIZES:
            path = case.write(size)
            weights.append(bytes_of(path))
            found.append(case.counts(path))
    except subprocess.TimeoutExpired:
        return "", [f"more than {cases.LIMIT_SECONDS} seconds"]
    return f": check {found[-1]['(check)'][0] / weights[-1]:.0f} a byte, {len(found[-1])} counted", list(compare(*found, weights))


if __name__ == "__main__":
    sys.exit(cases.run(sys.argv[1], sys.argv[2:], check))
