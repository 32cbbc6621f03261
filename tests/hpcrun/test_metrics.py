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


def measurement(n_nodes, n_metrics, values, chain=False, formulas=()):
    """A profile of release 4.00: nodes below one root, or each below the one before; values: {node: {metric: value}};
    formulas: {metric: (show, formula)}."""
    formulas = dict(formulas)
    show = lambda i: formulas.get(i, (1, ""))[0]
    formula = lambda i: formulas.get(i, (1, ""))[1]
    parent = (lambda i: 12 + 2 * (i - 1)) if chain else (lambda i: 12)
    nodes = b"".join(pack(">IIHQB", 12 + 2 * i, parent(i) if i else 0, 1 if i else 0,
                          0x1000 + 16 * i if i else 0x5E5072696D617279, 0) for i in range(n_nodes))
    metrics = b"".join(text(f"m{i}") + text("") + bytes([1, 0, 1, 0, 0, 0, show(i)] + [0] * 9) + pack(">Q", 1) +
                       text(formula(i)) + text("%6.0f") + b"\0" * 20
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


def test_formulas(folder):
    """Metrics that the file defines by formulas are columns; those that only serve them are not."""
    path = os.path.join(folder, "formulas.hpcrun")
    values = {1: {0: 640, 1: 20, 2: 5, 8: 1}, 2: {0: 60, 1: 3}, 3: {8: 7}}
    formulas = {0: (4, ""), 3: (3, "#0/#1"), 4: (1, "min(100, max(0, 100*#1/#2))"), 5: (2, "(#1/#1) + (#2/#1)"),
                6: (1, "#0/#9"), 7: (1, "#0/#77"), 8: (1, ""), 10: (1, "#0 +"), 11: (1, "$0*#1"), 12: (1, "#1 # 2")}
    with open(path, "wb") as f:
        f.write(measurement(4, 13, values, formulas=formulas))
    rows = list(csv.DictReader(io.StringIO(cat(path, "contexts.csv")[0])))
    assert "m0_excl" not in rows[0] and "m0_incl" not in rows[0] and "m6_excl" not in rows[0], list(rows[0])
    cells = lambda row: [row[c] for c in ("m3_excl", "m4_excl", "m4_incl", "m5_incl")]
    assert "m3_incl" not in rows[0] and "m5_excl" not in rows[0], list(rows[0])
    by_cost = {row["m1_excl"]: cells(row) for row in rows}
    # Below the root: own costs of the two nodes; the root has their sums alone.
    assert by_cost["20"] == ["32", "100", "100", "1.25"], by_cost
    assert by_cost["3"] == ["20", "", "", ""], by_cost
    root = next(row for row in rows if row["m1_incl"] == "23")
    assert cells(root) == ["", "", "100", repr(1 + 5 / 23)], root
    said = cat(path, "damage.csv")[0]
    for name, why in (("m7", "none that can be computed"), ("m10", "none that can be computed"), ("m11", "none that can be computed"),
                      ("m12", "none that can be computed")):
        assert f"metric {name}: its formula is {why}" in said, said
    assert said.count("metric m") == 4, said
    many = "#1+" * 1500 + "#1"
    with open(path, "wb") as f:
        f.write(measurement(2, 1200, {1: {1: 1}}, formulas={**{i: (1, "#1") for i in range(2, 1200)}, 5: (1, many)}))
    said = cat(path, "damage.csv")[0]
    assert said.count("more than 1000 metrics with formulas") == 1, said
    assert "metric m5: its formula" in said, said
    everything = subprocess.run([*PROFMOUNT, "-o", "symbols=no,metrics=all", "--cat", path, "contexts.csv"], capture_output=True, check=False)
    assert b"m1_excl" in everything.stdout, everything


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
    test_formulas(scratch)
    test_limits(scratch)
    test_spreads(scratch)
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss << 10
if not EMULATOR and "ASAN_OPTIONS" not in os.environ:
    assert peak < MOST_MEMORY, f"{peak:,} bytes of memory at the peak"
print("3 passed, 0 failed")
