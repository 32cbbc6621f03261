#!/usr/bin/env python3
"""The law of cost for damage: a source that was cut, or in which bytes were changed, takes no more work than the sound one.

    tests/cost/damaged.py BUILD [CASE…]         BUILD was set up with -Dcount=true

Each costly case (make_costly.c) is written once, and its files are damaged at some positions: cut, with one byte changed,
and with other bytes from there on. All that run.py counts may come to 2.3 times what the sound source takes, 5 times where
most of the bytes are others; and to more where the damaged source has larger documents. Ends with `N passed, N failed`.
"""
import os
import random
import subprocess
import sys

import cases

MOST, MOST_OF_OTHERS = 2.3, 5
SIZE = 200_000
PLACES = (0.002, 0.1, 0.4, 0.7, 0.98)  # in each file, as parts of it
CHANGES = {
    "cut": lambda data, at, _: data[:at],
    "flipped": lambda data, at, _: data[:at] + bytes([data[at] ^ 0xff]) + data[at + 1:],
    "high bit": lambda data, at, _: data[:at] + bytes([data[at] ^ 0x80]) + data[at + 1:],
    "same": lambda data, at, _: data[:at] + data[at:at + 1] * (len(data) - at),
    "random": lambda data, at, rand: data[:at] + rand.randbytes(len(data) - at),
}


def files_of(source):
    if os.path.isfile(source):
        return [source]
    return sorted((os.path.join(d, n) for d, _, names in os.walk(source) for n in names), key=os.path.getsize)[-4:]


def work_of(case, source):
    """Work on the whole, bytes of all documents, and the document that takes most; those that are refused count, too."""
    try:
        counted = case.counts(source)
    except subprocess.TimeoutExpired:
        return float("inf"), 0, f"more than {cases.LIMIT_SECONDS} seconds"
    return (sum(c.work for c in counted.values()), sum(max(c.own, 0) for c in counted.values()),
            max(counted, key=lambda what: counted[what].work))


def damaged(case, source):
    """Messages about damage that costs too much."""
    sound, had, _ = work_of(case, source)
    for path in files_of(source):
        with open(path, "rb") as f:
            data = f.read()
        for place in PLACES:
            at = int(len(data) * place)
            for name, change in CHANGES.items():
                with open(path, "wb") as f:
                    f.write(change(data, at, random.Random(at)))
                work, own, most = work_of(case, source)
                times = MOST_OF_OTHERS if name in ("same", "random") else MOST
                if work > times * sound * max(1, own / max(had, 1)) + cases.FREE:
                    yield f"{os.path.basename(path)} {name} at {at}: {work / sound:.1f} times, most for {most}"
        with open(path, "wb") as f:
            f.write(data)


def check(case):
    return "", list(damaged(case, case.write(SIZE)))


if __name__ == "__main__":
    sys.exit(cases.run(sys.argv[1], sys.argv[2:], check))
