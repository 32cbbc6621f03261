#!/usr/bin/env python3
"""The units of docs/operations.md, verified by systemd, and its options, known to the program.

    test_operations.py PROFMOUNT DOCS
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

PROFMOUNT, DOCS = (os.path.abspath(p) for p in sys.argv[1:])


def units():
    """The units, by the sections that they have."""
    with open(os.path.join(DOCS, "operations.md"), encoding="utf-8") as f:
        blocks = re.findall(r"(?:^    .*\n|^\n(?=    ))+", f.read(), re.M)
    found = {}
    for block in blocks:
        text = re.sub(r"^    ", "", block, flags=re.M)
        kind = re.search(r"^\[(Mount|Automount|Service)\]", text, re.M)
        if kind:
            found[kind.group(1).lower()] = text.replace("/usr/bin/profmount", PROFMOUNT)
    return found


def main():
    found = units()
    assert sorted(found) == ["automount", "mount", "service"], sorted(found)
    usage = subprocess.run([PROFMOUNT, "-h"], capture_output=True, text=True, check=True).stdout
    for text in found.values():
        for options in re.findall(r"(?:-o |Options=)(\S+)", text):
            for option in options.split(","):
                assert f"-o {option.split('=')[0]}" in usage, option
    if not shutil.which("systemd-analyze"):
        print("SKIPPED: units of docs/operations.md, which need systemd-analyze")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for kind, text in found.items():
            where = re.search(r"^Where=/(.*)$", text, re.M)
            name = where.group(1).replace("/", "-") if where else "profile"
            paths.append(os.path.join(folder, f"{name}.{kind}"))
            with open(paths[-1], "w", encoding="utf-8") as f:
                f.write(text)
        done = subprocess.run(["systemd-analyze", "verify", *paths], capture_output=True, text=True, check=False)
        # What is said of other units of the machine is none of ours.
        said = [line for line in done.stderr.splitlines() if folder in line or any(os.path.basename(p) in line for p in paths)]
        print("\n".join(said) or f"{len(paths)} units are sound")
        return 1 if said else 0


sys.exit(main())
