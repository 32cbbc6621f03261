#!/usr/bin/env python3
"""Polars finds our sums in profiles.parquet, as docs/remote.md has it."""
import re
import subprocess

from clients import HERE, Source, documented, expect_ranks, node_module, run, skip

node_module("nodejs-polars")
if subprocess.run(["node", "-e", "require('nodejs-polars')"], cwd=HERE, stderr=subprocess.DEVNULL, check=False).returncode:
    skip("nodejs-polars was installed without its library, which npm leaves out for other versions of node")

with Source("profiles.parquet", "threads.parquet") as source:
    script = re.search(r"(?ms)^import polars from.*?\n\n", documented(source)).group()
    shown = run("node", "--input-type=module", "-e", script, cwd=HERE)
    expect_ranks(source, dict(re.findall(r"(?m)^(\d+),([0-9.]+)$", shown)), "Polars")
