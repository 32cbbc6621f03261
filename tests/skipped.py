#!/usr/bin/env python3
"""Prints which tests, or parts of them, were skipped, why, and the command that enables them.

    skipped.py BUILD [--viewers]

--viewers: as many of them as possible were installed.
"""
import json
import os
import re
import sys

# What tests print: before they end with exit 77, and unittest for a part.
REASON = re.compile(r"^SKIPPED: (.+)$|\bskipped (['\"])(.+)\2$", re.M)

CMOCKA = re.compile(r"^\[  SKIPPED \] (\w+)$", re.M)
CURABLE = re.compile("install|root|/dev/fuse")


def skipped(log):
    """(test, reason) of everything that was skipped."""
    for line in log:
        test = json.loads(line)
        name = test["name"].rpartition(" / ")[2]
        said = test.get("stdout", "") + test.get("stderr", "")
        reasons = list(dict.fromkeys(a or b for a, _, b in REASON.findall(said)))
        if not reasons:
            reasons = [f"{part}, which does not say why" for part in sorted(set(CMOCKA.findall(said)))]
        if not reasons and test["result"] == "SKIP":
            reasons = ["it does not say why"]
        for reason in reasons:
            yield name, reason


def main():
    with open(os.path.join(sys.argv[1], "meson-logs", "testlog.json"), encoding="utf-8") as log:
        found = list(skipped(log))
    if not found:
        return
    print("\nSkipped:\n")
    for name, reason in sorted(found):
        print(f"    {name}: {reason}")
    if any(CURABLE.search(reason) for _, reason in found) and (os.getuid() != 0 or "--viewers" not in sys.argv):
        print(f"\nWith the programs that are missing{', and as root' if os.getuid() else ''}:\n\n    tests/all --viewers\n")


if __name__ == "__main__":
    main()
