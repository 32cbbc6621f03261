#!/usr/bin/env python3
"""callgrind_annotate reads callgrind.out.M without warnings; totals and inclusive costs are equal."""
import re

from clients import Source, expect, expect_total, program, run

annotate = program("callgrind_annotate", "valgrind")


def costs(text):
    """(cost, what) of the lines of a listing."""
    return [(int(cost.replace(",", "")), what) for cost, what in
            re.findall(r"^ *([0-9,]+) \( *[0-9.]+%\)  (.*)$", text, re.M)]


with Source("export") as source:
    for metric, path in source.exports("callgrind.out.", ""):
        total, slack = source.total(metric)
        said = run(annotate, "--auto=no", "--inclusive=yes", "--threshold=100", path)
        expect("malformed, ignoring" not in said, f"callgrind_annotate: {said}")
        if total < 1:
            continue
        listing = costs(said)
        expect(listing[0][1] == "PROGRAM TOTALS", listing[:1])
        expect_total(source, metric, listing[0][0], "callgrind_annotate")
        if metric.endswith("_ns"):
            expect(max(cost for cost, _ in listing[1:]) <= listing[0][0], f"{metric}: a function costs more than the whole")
        tree = run(annotate, "--tree=both", path)
        expect("malformed, ignoring" not in tree and " * " in tree, tree[:500])
