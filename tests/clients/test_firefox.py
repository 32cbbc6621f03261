#!/usr/bin/env python3
"""The Firefox Profiler (its command line) imports trace.json: every slice is a marker of its thread."""
import collections
import json
import os
import tempfile

from clients import Source, expect, node_module, run, skip

cli = os.path.join(node_module("@firefox-devtools/profiler-cli"), "dist/profiler-cli.js")

with Source("export") as source, tempfile.TemporaryDirectory() as home:
    path = source.path("export/trace.json")
    if not os.path.exists(path):
        skip("the source has no traces")
    with open(path, encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    slices = collections.Counter((e["pid"], e["tid"]) for e in events if e["ph"] in "Xi")
    environment = {**os.environ, "HOME": home}
    try:
        # `load` gives up while the profile is still being read; the commands after it wait.
        run("node", cli, "load", path, env=environment, status=None)
        threads = json.loads(run("node", cli, "thread", "list", "--json", env=environment))["threads"]
    finally:
        run("node", cli, "stop", "--all", env=environment, status=None)
    shown = {tuple(map(int, t["tid"].split(":"))): t["markerCount"] for t in threads}
    for track, n in slices.items():
        expect(shown.get(track) == n, f"thread {track}: {shown.get(track)} markers of {n} slices")
    print(f"Firefox Profiler: {sum(slices.values())} slices on {len(slices)} threads")
