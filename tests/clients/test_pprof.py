#!/usr/bin/env python3
"""go tool pprof reads M.pb.gz and profile.pb.gz: totals are equal, names are complete, its own exports work, and filters are its filters."""
import os
import re
import subprocess
import tempfile

from clients import Source, expect, expect_total, program, run

go = program("go", "golang-go")
program("dot", "graphviz")


def pprof(home, *arguments):
    return run(go, "tool", "pprof", *arguments,
               env={**os.environ, "HOME": home, "PPROF_TMPDIR": home, "GOCACHE": home, "GOTOOLCHAIN": "local"})


with Source("export", "functions.csv") as source, tempfile.TemporaryDirectory() as home:
    names = {re.sub(r"\s+", " ", row["name"]) for row in source.rows("contexts.csv")} | {"(unknown)"}
    # Each quantity in a file of its own, and in the one of all, in which it is chosen.
    singles = [(metric, path, []) for metric, path in source.exports("", ".pb.gz")]
    whole = source.path("export/profile.pb.gz")
    for metric, path, chosen in singles + [(m, whole, [f"-sample_index={m}"]) for m, _, _ in singles]:
        total, slack = source.total(metric)
        if total < 1:
            continue
        unit = "ns" if metric.endswith("_ns") else "B" if metric.endswith("_bytes") else "count"
        said = pprof(home, "-top", f"-unit={unit}", "-nodefraction=0", *chosen, path)
        shown = re.search(rf"Showing nodes accounting for .* of ([0-9.]+){'' if unit == 'count' else unit} total", said)
        expect(shown, said[:500])
        expect_total(source, metric, float(shown.group(1)), "go tool pprof")
        listed = re.findall(r"^ *\S+ +[0-9.]+% +[0-9.]+% +\S+ +[0-9.]+%  (.*)$", said, re.M)
        expect(listed and all(n.replace(" (inline)", "") in names for n in listed),
               f"names that are not ours: {[n for n in listed if n not in names][:3]}")
        expect(f"Type: {metric}" in said, said[:500])
    pprof(home, "-svg", f"-output={source.path('out.svg')}", path)
    pprof(home, "-traces", path)
    same = pprof(home, "-top", "-base", path, path)
    expect(" of 0" in same, same[:500])

    def functions(*arguments):
        """name → (own, with what it called) of the functions that pprof lists."""
        said = pprof(home, "-top", "-nodefraction=0", "-edgefraction=0", "-unit=ns", "-sample_index=cputime_ns", *arguments)
        found = {}
        for own, cum, name in re.findall(r"^ *([0-9.]+)(?:ns)? +[0-9.]+% +[0-9.]+% +([0-9.]+)(?:ns)? +[0-9.]+%  (.*)$", said, re.M):
            found[name.replace(" (inline)", "")] = (float(own), float(cum))
        expect(found, said[:500])
        return found

    # A filter's export is what pprof makes of the export of the whole. (-hide drops samples of which nothing is left, ours are `(hidden)`; here are none.)
    whole = source.path("export/cputime_ns.pb.gz")
    before, differing = functions(whole), 0
    for name, pattern in (("relax", r"^relax\("), ("exchange", r"^exchange\("), ("MPI_Waitall", "^MPI_Waitall$"), ("cell<double>", "^cell<double>"),
                          ("step(grid*)", r"^step\(grid\*\)$"), ("category:mpi", "^MPI_Waitall$")):
        for kind, flag in (("focus", "focus"), ("ignore", "ignore"), ("hide", "hide"), ("from", "show_from")):
            part = source.path("part.pb.gz")
            with open(part, "wb") as file:
                file.write(subprocess.run([source.profmount, "--cat", source.source, f"{kind}/{name}/export/cputime_ns.pb.gz"],
                                          check=True, stdout=subprocess.PIPE).stdout)
            ours, theirs = functions(part), functions(f"-{flag}={pattern}", whole)
            expect(ours.keys() == theirs.keys(), f"{kind}/{name}: {set(ours) ^ set(theirs)}")
            far = [n for n in ours if any(abs(a - b) > 10 for a, b in zip(ours[n], theirs[n]))]
            expect(not far, f"{kind}/{name}: {[(n, ours[n], theirs[n]) for n in far[:3]]}")
            differing += ours != before
    expect(differing >= 20, f"only {differing} filters filter anything")
