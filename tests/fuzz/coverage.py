#!/usr/bin/env python3
"""Which lines of the readers the fuzz targets reach with their seeds, past findings and what they learned:

    coverage.py BUILD LEARNED [FOLDER…]

LEARNED is the folder that run.py was given as KEEP. BUILD is one as fuzz/meson.build describes, with
-Dc_args="-fprofile-instr-generate -fcoverage-mapping" and -Dc_link_args=-fprofile-instr-generate, without sanitizers.
Prints lines and lines reached of each folder below formats/, and of each file of the FOLDERs.
"""
import collections
import glob
import json
import os
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD, LEARNED, FOLDERS = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), sys.argv[3:]
sys.argv[1:] = [BUILD, "0"]
import run


def reached(profiles):
    """Lines and reached lines by file."""
    programs = sorted(p for p in glob.glob(BUILD + "/tests/fuzz/fuzz_*") if os.path.isfile(p))
    for name in sorted(os.path.basename(p)[5:-2] for p in glob.glob(HERE + "/fuzz_*.c")):
        if name == "main":
            continue
        with tempfile.TemporaryDirectory(prefix="profmount-fuzz-") as seeds:
            run.make_seeds(name, seeds)
            folders = [f for f in (seeds, os.path.join(LEARNED, name)) if os.path.isdir(f)]
            env = {**os.environ, "LLVM_PROFILE_FILE": os.path.join(profiles, name + ".profraw")}
            subprocess.run([os.path.join(BUILD, "tests/fuzz/fuzz_" + name), "-runs=0", *folders], env=env, check=True,
                           capture_output=True)
    data = os.path.join(profiles, "all")
    subprocess.run(["llvm-profdata", "merge", "-o", data, *glob.glob(profiles + "/*.profraw")], check=True)
    objects = [arg for program in programs for arg in ("-object", program)]
    out = subprocess.run(["llvm-cov", "export", "-summary-only", "-instr-profile", data, *objects[1:]], check=True,
                         capture_output=True).stdout
    return {f["filename"]: (f["summary"]["lines"]["count"], f["summary"]["lines"]["covered"])
            for f in json.loads(out)["data"][0]["files"] if "/formats/" in f["filename"] and f["filename"].endswith(".c")}


def main():
    with tempfile.TemporaryDirectory(prefix="profmount-fuzz-") as profiles:
        files = reached(profiles)
    folders = collections.defaultdict(lambda: [0, 0])
    for path, (lines, covered) in sorted(files.items()):
        folder, name = os.path.dirname(path).split("formats/")[-1], os.path.basename(path)
        folders[folder][0] += lines
        folders[folder][1] += covered
        if folder in FOLDERS:
            print(f"    {folder}/{name}: {covered} of {lines}")
    for folder, (lines, covered) in sorted(folders.items()):
        print(f"{folder}: {lines} lines, {covered} reached, {100 * covered / lines:.0f} %")


main()
