#!/usr/bin/env python3
"""speedscope opens every export, and files that it saves have the same totals."""
import json
import os

from clients import Source, driver, expect, expect_total, node_module, program

dist = os.path.join(node_module("speedscope"), "dist/release")
node_module("puppeteer-core")
chromium = program("chromium", "chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome")


def open_all(paths):
    """The output of speedscope for each file: {path: {log, saved}}."""
    return {one["path"]: one for one in map(json.loads, driver("speedscope.mjs", chromium, dist, *paths).splitlines())}


def total(profile):
    return sum(profile["weights"]) if profile["type"] == "sampled" else profile["endValue"] - profile["startValue"]


with Source("export") as source:
    mains = [max(source.exports(*around), key=lambda e: source.total(e[0])[0])
             for around in (("", ".collapsedstack.txt"), ("", ".pb.gz"), ("callgrind.out.", ""))]
    whole = source.path("export/profile.speedscope.json")
    trace = source.path("export/trace.json")
    pprof = source.path("export/profile.pb.gz")  # of all metrics: the first one is shown
    paths = [path for _, path in mains] + [whole, pprof] + [trace] * os.path.exists(trace)
    opened = open_all(paths)
    for path in paths:
        expect(opened[path]["saved"] and not opened[path]["errors"], f"{path}: {opened[path]}")
    columns = list(source.rows("contexts.csv")[0])
    first = min((m["column"] for m in source.metrics if m["column"] in columns), key=columns.index)
    first, _ = source.export_name(first, next(m["unit"] for m in source.metrics if m["column"] == first))
    for metric, path in mains[:2] + [(first, pprof)]:
        expect_total(source, metric, total(opened[path]["saved"]["profiles"][0]), f"speedscope ({os.path.basename(path)})")
    with open(whole, encoding="utf-8") as file:
        ours = json.load(file)
    for mine, shown in zip(ours["profiles"], opened[whole]["saved"]["profiles"], strict=True):
        expect(mine["name"] == shown["name"] and total(mine) == total(shown), f"{shown['name']}: {total(shown)}, not {total(mine)}")
        if "," not in mine["name"]:
            expect_total(source, mine["name"], total(shown), "speedscope")
