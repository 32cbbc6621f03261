#!/usr/bin/env python3
"""The recipes of README.md, run on the bundled sample as they stand.

    test_readme.py PROFMOUNT SAMPLE README
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

PROFMOUNT, SAMPLE, README = (os.path.abspath(p) for p in sys.argv[1:4])


def recipes():
    with open(README, encoding="utf-8") as f:
        text = f.read().split("## Recipes", 1)[1].split("```")[1]
    return re.findall(r"^\$ (.*)$", text, re.M)


def main():
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([PROFMOUNT, "--extract", SAMPLE, folder], check=True)
        for command in recipes():
            if command.startswith("duckdb") and not shutil.which("duckdb"):
                print(f"SKIPPED (duckdb is not installed): {command}")
                continue
            with tempfile.TemporaryDirectory() as copies:
                done = subprocess.run(["sh", "-c", command], cwd=folder, capture_output=True, timeout=60, check=False,
                                      env={**os.environ, "TMPDIR": copies})
                said = done.stdout or os.listdir(copies)
            if done.returncode or done.stderr or not said:
                failed += 1
                print(f"FAILED (exit {done.returncode}, {done.stderr.decode()[:200]}): {command}")
    print(f"{len(recipes())} recipes, {failed} failed")
    sys.exit(1 if failed or not recipes() else 0)


if __name__ == "__main__":
    main()
