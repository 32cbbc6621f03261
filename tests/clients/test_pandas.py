#!/usr/bin/env python3
"""pandas makes one table of the profiles of all threads, as docs/remote.md has it, and finds our sums."""
import re
import subprocess

from clients import Source, documented, expect_ranks, program, run, skip

python = program("/usr/bin/python3", "python3")
if subprocess.run([python, "-c", "import pandas"], stderr=subprocess.DEVNULL).returncode:
    skip("pandas is not installed (Debian: apt-get install python3-pandas)")

with Source("threads") as source:
    script = re.search(r"(?ms)^import pathlib, pandas.*?\n\n", documented(source)).group()
    expect_ranks(source, dict(re.findall(r"(?m)^(\d+) +([0-9.]+)$", run(python, "-c", script))), "pandas")
