#!/usr/bin/env python3
"""Exports of a comparison have the totals of `go tool pprof -diff_base` and difffolded.pl on the exports of both runs.

    test_diff.py PROFMOUNT BASE NEW

Two small streams whose costs are made here, one function gone and one new, and a pair of sources. difffolded.pl (FlameGraph,
not in Debian) adds counts of equal stacks of two files; where it is not installed, this is done here.
"""
import collections
import csv
import os
import re
import shutil
import sys
import tempfile

from clients import HERE, expect, program, run

sys.path.insert(0, os.path.join(HERE, "../runs"))
import streams  # noqa: E402

go = program("go", "golang-go")
SIDES = ("base", "new")


def pprof(home, *arguments):
    """Costs of functions, as -top prints them."""
    said = run(go, "tool", "pprof", "-top", "-unit=ns", "-nodecount=100000", "-nodefraction=0", "-edgefraction=0", *arguments,
               env={**os.environ, "HOME": home, "PPROF_TMPDIR": home, "GOCACHE": home, "GOTOOLCHAIN": "local"})
    rows = re.findall(r"^ *(-?[\d.]+)(?:ns)? +-?[0-9.]+% +-?[0-9.]+% +\S+ +-?[0-9.]+%  (.*)$", said, re.M)
    expect(rows, said[:500])
    return {re.sub(r" \(inline\)$", "", name): float(cost) for cost, name in rows if float(cost)}


def folded(path):
    """Counts of stacks: one of each line, or base and other."""
    counts = collections.defaultdict(lambda: [0, 0])
    with open(path, encoding="utf-8") as file:
        for line in file:
            stack, *numbers = re.fullmatch(r"(.*?)((?: -?\d+){1,2})\n", line).groups()
            for i, number in enumerate(numbers[0].split()):
                counts[stack][i] += int(number)
    return counts


def difffolded(base, new, path):
    """The output of difffolded.pl for two exports."""
    if shutil.which("difffolded.pl"):
        with open(path, "w", encoding="utf-8") as file:
            file.write(run("difffolded.pl", base, new))
        return folded(path)
    counts = collections.defaultdict(lambda: [0, 0])
    for side, file in enumerate((base, new)):
        for stack, (count, _) in folded(file).items():
            counts[stack][side] += count
    return counts


def check(profmount, runs, folder, same_names):
    out, home = os.path.join(folder, "out"), os.path.join(folder, "home")
    os.mkdir(home)
    run(profmount, "--extract", *(f"{name}={path}" for name, path in zip(SIDES, runs)), "--", out,
        "compare", *(f"runs/run={side}/export" for side in SIDES))
    with open(os.path.join(out, "compare/new/metrics.csv"), newline="", encoding="utf-8") as file:
        whole = next(csv.DictReader(file))
    scale = 1e9 if whole["quantity"].endswith("_sec") else 1
    metric = re.sub("_(sec|ns)(_incl|_excl)?$", "_ns", whole["quantity"])
    files = [os.path.join(out, f"runs/run={side}/export/{metric}") for side in SIDES] + \
            [os.path.join(out, f"compare/new/export/{metric}")]
    stacks = folded(files[2] + ".collapsedstack.txt")
    theirs = difffolded(*(f + ".collapsedstack.txt" for f in files[:2]), os.path.join(folder, "diff"))
    for i, side in enumerate(("base", "value")):
        ours, want = sum(c[i] for c in stacks.values()), sum(c[i] for c in theirs.values())
        expect(ours == want, f"{side}: folded stacks add up to {ours}, difffolded's to {want}")
        expect(abs(ours - scale * float(whole[side])) <= len(stacks), f"{side}: {ours}, metrics.csv has {whole[side]}")
    diff = pprof(home, "-diff_base", files[0] + ".pb.gz", files[1] + ".pb.gz")
    mine = pprof(home, files[2] + ".pb.gz")
    total = sum(c[1] - c[0] for c in stacks.values())
    expect(abs(sum(diff.values()) - total) <= len(stacks), f"-diff_base: {sum(diff.values())}, folded stacks {total}")
    expect(abs(sum(mine.values()) - total) <= len(stacks), f"compare/ in pprof: {sum(mine.values())}, folded stacks {total}")
    if same_names:
        expect({s: tuple(c) for s, c in stacks.items()} == {s: tuple(c) for s, c in theirs.items()}, "other stacks than difffolded")
        expect(diff == mine, f"-diff_base: {diff}, compare/: {mine}")
    print(f"{metric}: {len(stacks)} stacks, {total} more; pprof -diff_base: {len(diff)} functions, {sum(diff.values()):.0f}")


def main():
    profmount, *pair = (os.path.abspath(a) for a in sys.argv[1:])
    with tempfile.TemporaryDirectory() as folder:
        made = [streams.write(os.path.join(folder, f"{side}.htdump"), costs) for side, costs in zip(SIDES, (
            {"main": 5000, "grows": 20000, "shrinks": 9000, "gone": 700, "same": 100},
            {"main": 5100, "grows": 26000, "shrinks": 4000, "new": 800, "same": 100}))]
        check(profmount, made, folder, True)
    with tempfile.TemporaryDirectory() as folder:
        check(profmount, pair, folder, False)


main()
