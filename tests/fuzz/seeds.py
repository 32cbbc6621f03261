#!/usr/bin/env python3
"""Inputs of fuzz_seam to start from: seeds.py OUT SOURCE…

A source that is a file is copied; one that is a folder is packed as fuzz_seam.c describes. Large ones are left out:
a fuzzer learns nothing more from them.
"""
import os
import re
import shutil
import struct
import sys

LARGEST = 128 << 10
NAMES = (r"meta\.db", r"profile\.db", r"cct\.db", r"trace\.db", r"traces\.dat", r"meta\.db\.p", r"meta\.db\.t", r"qmeta\.idx",
         r"text-.*\.wal", r"text-.*\.fmi", r".*\.hpcrun", r".*\.hpctrace", r".*\.hpcrun", r".*\.hpctrace",
         r"nytprof\.out\.1", r"nytprof\.out\.2")


def pack(folder):
    files, packed = sorted(os.listdir(folder)), b"profmount folder\n"
    for number, name in enumerate(NAMES):
        found = next((f for f in files if re.fullmatch(name, f)), None)
        if found:
            files.remove(found)
            with open(os.path.join(folder, found), "rb") as f:
                data = f.read()
            packed += struct.pack("<BI", number, len(data)) + data
    return packed


def main(out, *sources):
    os.makedirs(out, exist_ok=True)
    for source in sources:
        to = os.path.join(out, os.path.abspath(source).strip("/").replace("/", "_"))
        if os.path.isfile(source) and os.path.getsize(source) <= LARGEST:
            shutil.copyfile(source, to)
        elif os.path.isdir(source) and len(packed := pack(source)) <= LARGEST:
            with open(to, "wb") as f:
                f.write(packed)


main(*sys.argv[1:])
