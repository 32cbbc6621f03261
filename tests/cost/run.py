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
import tempfile

MOST = 1.15
# Less work than that is nobody's complaint: about 20 ms. It hides that tables of more than 64 KiB are measured before they
# are rendered, others not.
FREE = 5_000_000
SIZES = (1_000_000, 2_000_000)
# What is refused for its size, or bounded by a limit of its own, has nothing to compare.
LIMIT_SECONDS = 120


def bytes_of(path):
    if os.path.isfile(path):
        return os.path.getsize(path)
    return sum(os.path.getsize(os.path.join(d, n)) for d, _, names in os.walk(path) for n in names)


def counts_of(command):
    """What was counted: name → (work, own bytes, peak)."""
    out = {}
    done = subprocess.run(command, capture_output=True, timeout=LIMIT_SECONDS, check=True)
    for line in done.stdout.decode(errors="replace").splitlines():
        work, own, peak, what = line.split(" ", 3)
        out[what] = (int(work), int(own), int(peak))
    return out


def compare(small, large, weights):
    """Lines about what costs more than it weighs."""
    for what, (work, own, _) in large.items():
        if what not in small or own < 0 or work < FREE:
            continue
        was, had, _ = small[what]
        # A document that has a bound of its own does not grow with the source that is read for it.
        weight = max(weights[1] / weights[0], own / max(had, 1))
        if work > MOST * weight * max(was, 1):
            yield f"{what}: {was:,} → {work:,} for {had:,} → {own:,} bytes: {work / max(was, 1):.1f} times"
    peaks = [max(peak for _, _, peak in counted.values()) for counted in (small, large)]
    if peaks[1] > 64 << 20 and peaks[1] / weights[1] > MOST * peaks[0] / weights[0]:
        yield f"memory: {peaks[0]:,} → {peaks[1]:,} bytes"


def run(build, cases):
    make, count = (os.path.join(build, "tests", "cost", name) for name in ("make_costly", "count"))
    cases = cases or subprocess.run([make], capture_output=True, check=True).stdout.decode().split()
    failed = 0
    for case in cases:
        with tempfile.TemporaryDirectory(prefix="profmount-test-") as folder:
            found, weights = [], []
            try:
                for size in SIZES:
                    path = os.path.join(folder, str(size))
                    subprocess.run([make, case, str(size), path], check=True)
                    weights.append(bytes_of(path))
                    found.append(counts_of([count, path]))
                wrong = list(compare(*found, weights))
            except subprocess.TimeoutExpired:
                wrong = [f"more than {LIMIT_SECONDS} seconds"]
            per_byte = found[-1]["(check)"][0] / weights[-1] if len(found) == 2 else 0
            print(f"{'FAIL' if wrong else 'ok  '} {case}: check {per_byte:.0f} a byte, {len(found[-1]) if found else 0} counted")
            for line in wrong:
                print("     " + line)
            sys.stdout.flush()
            failed += bool(wrong)
    print(f"{len(cases) - failed} passed, {failed} failed")
    return failed


if __name__ == "__main__":
    sys.exit(1 if run(sys.argv[1], sys.argv[2:]) else 0)
