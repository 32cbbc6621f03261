#!/usr/bin/env python3
"""The trips in docs/architecture.md: every file of them exists, and none is entered twice in one trip.

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


def main():
    root = sys.argv[1]
    with open(os.path.join(root, "docs/architecture.md"), encoding="utf-8") as f:
        found = list(trips(f.read()))
    errors = [f"{name}: {error}" for name, files in found for error in wrong(root, files)]
    errors += [f"{name}: only {len(files)} files" for name, files in found if len(files) < 5]
    if len(found) != 5:
        errors.append(f"{len(found)} trips, not five")
    print("\n".join(errors) or f"{len(found)} trips")
    sys.exit(1 if errors else 0)


main()
