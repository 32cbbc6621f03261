#!/usr/bin/env python3
"""Compares measurements with the databases that hpcprof made of the same runs:

    pairs.py PROFMOUNT CORPUS

By function, file, line, and call path (functions, inlined functions, loops and lines from the root down), the costs of the
mount of the measurements are those of the mount of the database, to 1e-9: of what is measured, since a database brings
derived metrics of its own, and hides what these are computed from. The corpus lacks structure files that were too
large for it: paths of runs that need them are not compared. Exit 77 without a corpus.
"""
import csv
import io
import os
import subprocess
import sys

PAIRS = ("develop-loops-cputime-t", "develop-small", "develop-loops-cuda-nvidia-t", "r2024.01-loops-perf",
         "r2024.01-loops-cuda-nvidiapc-t")
UNNAMED = ("entry", "placeholder")
EMULATOR = os.environ.get("EMULATOR", "").split()  # runs programs of another machine (tests/machines)


def cat(profmount, *args):
    done = subprocess.run([*EMULATOR, profmount, "-o", "metrics=all", "--cat", *args], capture_output=True, check=True)
    return list(csv.DictReader(io.StringIO(done.stdout.decode("utf-8", "replace"), newline="")))


def base(path):
    return path.rpartition("/")[2]


def columns(rows, ending):
    return [c for c in rows[0] if c.endswith(ending)] if rows else []


def by_key(rows, key, ending, without):
    out = {}
    for row in rows:
        for column in columns(rows, ending):
            if column not in without and row[column] and float(row[column]) and key(row) != ((),):
                at = (column, *key(row))
                out[at] = out.get(at, 0.0) + float(row[column])
    return out


def paths(rows):
    """Adds to each context its path of names, without entry points and placeholders of the roots."""
    known = {"": ()}
    for row in rows:
        above = known[row["parent_id"]]
        here = (row["kind"], row["name"] or row["line"], base(row["file"]), row["line"])
        known[row["context_id"]] = above if row["kind"] in UNNAMED and not above else (*above, here)
        row["path"] = known[row["context_id"]]
    return rows


def gpu_placeholder(path):
    """Databases store placeholders as functions."""
    return tuple(("function", *p[1:]) if p[0] == "placeholder" else p for p in path)


def differences(want, got):
    whole = max((abs(v) for v in want.values()), default=0)
    for key in sorted(want.keys() | got.keys(), key=str):
        a, b = want.get(key, 0.0), got.get(key, 0.0)
        if abs(a - b) > 1e-9 * max(abs(a), abs(b), whole * 1e-6):
            yield f"{key}: {b}, expected {a}"


def structs_of(measurements):
    """Load modules that a structure file names: whole paths, and the last names of others."""
    names = set()
    folder = os.path.join(measurements, "structs")
    for name in os.listdir(folder):
        if name.endswith(".hpcstruct"):
            with open(os.path.join(folder, name), encoding="utf-8") as f:
                names.add(base(f.read().partition("<LM ")[2].partition(' n="')[2].partition('"')[0]))
    return names


def alone(profmount, measurements, database):
    """Contexts that a comparison does not find on both sides; a database has no context for idle time."""
    rows = cat(profmount, f"base={database}", f"new={measurements}", "--", "compare/new/contexts.csv")
    return [f"only in {r['only_in']}: {r['kind']} {r['name']}" for r in rows if r["only_in"] and r["name"] != "<no activity>"]


def compare(profmount, measurements, database):
    found = []
    derived = {r["column"] for r in cat(profmount, database, "metrics.csv") if not r["metric_id"]}
    want, got = (paths(cat(profmount, source, "contexts.csv")) for source in (database, measurements))
    known = structs_of(measurements)
    missing = {r["module"] for r in want if r["module"] and base(r["module"]) not in known and "vmlinux" not in r["module"]}
    complete = not any(r["module"] in missing and r["kind"] != "instruction" for r in want)
    if complete:
        found += differences(*(by_key(side, lambda r: (gpu_placeholder(r["path"]),), "_incl", derived) for side in (want, got)))
    for table, key in (("functions.csv", lambda r: (r["name"], base(r["file"]), r["line"])),
                       ("files.csv", lambda r: (base(r["file"]),)),
                       ("lines.csv", lambda r: (base(r["file"]), r["line"]))):
        sides = [by_key(cat(profmount, source, table), key, "_excl", derived) for source in (database, measurements)]
        found += [f"{table}: {line}" for line in differences(*sides)]
    if complete:
        found += alone(profmount, measurements, database)
    return complete, found


def main():
    profmount, corpus = sys.argv[1:]
    if not os.path.isdir(os.path.join(corpus, "hpcrun/data")):
        print("SKIPPED: pairs of measurements and databases, which need ../shared/corpus")
        return 77
    failed = 0
    for name in PAIRS:
        complete, found = compare(profmount, os.path.join(corpus, "hpcrun/data", name),
                                  os.path.join(corpus, "hpctoolkit/data", name))
        print(name, "differs" if found else "is the same" if complete else "is the same, but paths were not compared")
        for line in found[:12]:
            print("   ", line[:300])
        failed += bool(found)
    print(f"{len(PAIRS) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
