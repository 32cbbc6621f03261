#!/usr/bin/env python3
"""Measurements with an unrealistic number of metrics: test_metrics.py PROFMOUNT

Contexts and metrics may both grow with a file, but time and memory must not grow with their product.
"""
import csv
import io
import os
import resource
import struct
import subprocess
import sys
import tempfile

EMULATOR = os.environ.get("EMULATOR", "").split()  # runs programs of another machine (tests/machines)
PROFMOUNT = [*EMULATOR, os.path.abspath(sys.argv[1])]
MOST_MEMORY = 400 << 20


def pack(*args):
    return struct.pack(*args)


def text(s):
    return pack(">I", len(s)) + s.encode()


def measurement(n_nodes, n_metrics, values, chain=False):
    """A profile of release 4.00: nodes below one root, or each below the one before; values: {node: {metric: value}}."""
    parent = (lambda i: 12 + 2 * (i - 1)) if chain else (lambda i: 12)
    nodes = b"".join(pack(">IIHQB", 12 + 2 * i, parent(i) if i else 0, 1 if i else 0,
                          0x1000 + 16 * i if i else 0x5E5072696D617279, 0) for i in range(n_nodes))
    metrics = b"".join(text(f"m{i}") + text("") + bytes([1, 0, 1, 0, 0, 0, 1] + [0] * 9) + pack(">Q", 1) + text("") * 2 + b"\0" * 20
                       for i in range(n_metrics))
    cells = b"".join(pack(">QH", v, m) for node in sorted(values) for m, v in sorted(values[node].items()))
    at, places = 0, b""
    for node in sorted(values):
        places += pack(">IQ", 12 + 2 * node, at)
        at += len(values[node])
    places += pack(">IQ", 0x656E6421, at)
    sections = (b"HPCRUN-profile____04.00b" + pack(">I", 1) + text("program-name") + text("p"),
                pack(">IH", 1, 1) + text("/bin/p") + pack(">Q", 1),
                pack(">Q", n_nodes) + nodes, pack(">I", n_metrics) + metrics, pack(">H", 0),
                pack(">HQI", 0, at, len(values)) + cells + places)
    out, foot = b"", b""
    for section in sections:
        out += b"\0" * (-len(out) % 1024)
        foot += pack(">QQ", len(out), len(out) + len(section))
        out += section
    out += b"\0" * (-len(out) % 1024)
    return out + foot + pack(">QQ", len(out), 0x48504352554E736D)


def cat(source, document):
    """Its output, and the message if it fails."""
    done = subprocess.run([*PROFMOUNT, "-o", "symbols=no", "--cat", source, document], capture_output=True, check=False)
    return done.stdout.decode(), "" if done.returncode == 0 else done.stderr.decode()


def refused(folder, name, data, document, message):
    path = os.path.join(folder, name)
    with open(path, "wb") as f:
        f.write(data)
    _, why = cat(path, document)
    assert message in why and why.count("\n") == 1, f"{name}: {document}: {why!r} instead of {message!r}"
    return path


def each(n):
    """Only metrics that have a value somewhere have columns."""
    return {m: 5 for m in range(n)}


def test_limits(folder):
    n = 2000
    refused(folder, "deep.hpcrun", measurement(n, n, {n - 1: each(n)}, chain=True), "contexts.csv",
            "make too many inclusive costs")
    path = refused(folder, "columns.hpcrun", measurement(10, 2100, {1: each(2100)}), "contexts.csv", "would have more than 4096 columns")
    assert cat(path, "damage.csv")[1] == ""
    path = refused(folder, "cells.hpcrun", measurement(17000, 1000, {1: each(1000)}), "functions.csv", "are more than 33554432 numbers")
    table, why = cat(path, "contexts.csv")
    assert why == "" and table.count("\n") >= 17000, why


def test_spreads(folder):
    """With so many contexts and columns, only spreads with values are kept."""
    n_nodes, n_metrics = 15000, 40
    threads = ({1: {0: 10, 39: 2}, 2: each(n_metrics), 700: {7: 3}, 14999: {0: 1}},
               {1: {0: 20}, 700: {7: 3}, 701: {8: 5}})
    os.mkdir(os.path.join(folder, "two"))
    for i, values in enumerate(threads):
        with open(os.path.join(folder, "two", f"p-000000-{i:03}-007f0101-1-0.hpcrun"), "wb") as f:
            f.write(measurement(n_nodes, n_metrics, values))
    table, why = cat(os.path.join(folder, "two"), "imbalance.csv")
    assert why == "", why
    rows = list(csv.DictReader(io.StringIO(table)))
    found = {(c, r[c + "_min"], r[c + "_mean"], r[c + "_max"]) for r in rows
             for c in ("m0_excl", "m7_excl", "m8_excl", "m39_excl", "m1_excl") if r[c + "_mean"]}
    assert found == {("m0_excl", "10", "15", "20"), ("m0_excl", "1", "1", "1"), ("m7_excl", "3", "3", "3"), ("m8_excl", "5", "5", "5"),
                     ("m39_excl", "2", "2", "2"), ("m0_excl", "5", "5", "5"), ("m7_excl", "5", "5", "5"), ("m39_excl", "5", "5", "5"),
                     ("m1_excl", "5", "5", "5")}, found


with tempfile.TemporaryDirectory(prefix="profmount-test-") as scratch:
    test_limits(scratch)
    test_spreads(scratch)
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss << 10
if not EMULATOR and "ASAN_OPTIONS" not in os.environ:
    assert peak < MOST_MEMORY, f"{peak:,} bytes of memory at the peak"
print("2 passed, 0 failed")
