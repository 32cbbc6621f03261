#!/usr/bin/env python3
"""The trips in docs/architecture.md: every file of them exists, and none is entered twice in one trip.
The files of formats/common: formats/README.md lists each of them under one topic.

    check_trips.py ROOT

FORMAT stands for any folder of formats/ that has such a file.
"""
import glob
import os
import re
import sys


def trips(text):
    """(name, files) of each paragraph of the chapter that begins with a command."""
    chapter = re.search(r"^## Five trips\n(.*?)^## ", text, re.S | re.M)
    for paragraph in chapter.group(1).split("\n\n") if chapter else ():
        if paragraph.startswith("**`"):
            yield paragraph.split("`")[1], re.findall(r"`([\w/]+\.c)`", paragraph)


def wrong(root, files):
    for i, path in enumerate(files):
        if path in files[:i]:
            yield f"{path} is entered twice"
        pattern = os.path.join(root, path.replace("FORMAT/", "formats/*/"))
        if not glob.glob(pattern):
            yield f"there is no {path}"


def topics(root):
    """What is wrong with the last table of formats/README.md."""
    with open(os.path.join(root, "formats/README.md"), encoding="utf-8") as f:
        table = f.read().split("| topic | files |")[-1]
    listed = [name for row in re.findall(r"^\| [a-z ]+ \| ([\w, ]+) \|$", table, re.M) for name in row.split(", ")]
    files = {re.split(r"[._]", name)[0] for name in os.listdir(os.path.join(root, "formats/common"))}
    for name in sorted(files | set(listed)):
        if listed.count(name) != 1 or name not in files:
            yield f"formats/README.md: {name} is listed {listed.count(name)} times"


def main():
    root = sys.argv[1]
    with open(os.path.join(root, "docs/architecture.md"), encoding="utf-8") as f:
        found = list(trips(f.read()))
    errors = [f"{name}: {error}" for name, files in found for error in wrong(root, files)]
    errors += [f"{name}: only {len(files)} files" for name, files in found if len(files) < 5]
    errors += topics(root)
    if len(found) != 5:
        errors.append(f"{len(found)} trips, not five")
    print("\n".join(errors) or f"{len(found)} trips")
    sys.exit(1 if errors else 0)


main()
