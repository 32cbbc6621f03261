#!/usr/bin/env python3
"""Catapult, the viewer of chrome://tracing, imports trace.json without warnings; slices, times and nesting are equal."""
import glob
import json
import os

from clients import Source, driver, expect, node_module, program, skip

node_module("puppeteer-core")
chromium = program("chromium", "chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome")
viewers = glob.glob("/usr/share/go-*/**/trace_viewer_full.html", recursive=True)
if not viewers:
    skip("catapult is not installed (Debian: apt-get install golang-src)")

with Source("export") as source:
    path = source.path("export/trace.json")
    if not os.path.exists(path):
        skip("the source has no traces")
    with open(path, encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    names = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["name"] == "thread_name"}
    ours = {}
    for event in events:
        if event["ph"] == "X":
            n, busy = ours.get((event["pid"], event["tid"]), (0, 0))
            ours[event["pid"], event["tid"]] = n + 1, busy + event["dur"]
    shown = json.loads(driver("catapult.mjs", chromium, viewers[0], path))
    expect(shown["warnings"] == [], shown["warnings"])
    for thread in shown["threads"]:
        track = thread["pid"], thread["tid"]
        n, busy = ours.pop(track, (0, 0))
        expect(thread["name"] == names[track], f"{track}: {thread['name']}, not {names[track]}")
        expect(thread["slices"] == n, f"{track}: {thread['slices']} slices of {n}")
        expect(abs(thread["busy_ms"] * 1000 - busy) <= 1e-6 * busy, f"{track}: {thread['busy_ms']} ms, not {busy / 1000}")
        expect(thread["least_self_ms"] > -1e-6, f"{track}: a slice is longer than the one around it")
    expect(not ours, f"threads that are not shown: {list(ours)[:4]}")
    print(f"catapult: {len(shown['threads'])} threads")
