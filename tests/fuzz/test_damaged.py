#!/usr/bin/env python3
"""Small sources with damage in them, through everything that fuzz_seam.c looks at: the tree, documents in windows, the data
of report.html, Parquet, windows of time, the source compared with itself.

    test_damaged.py FUZZ_SEAM SOURCES SAMPLES [EACH]

Of each source EACH variants: cut, bytes turned over, numbers replaced by large ones, mostly near the beginnings of its
files, where tables are described. The variants are the same each time. With ../shared/cases, its damaged source as well.
"""
import glob
import os
import random
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
CASES = os.path.join(HERE, "../../../shared/cases/damage")
HEAD = 512  # bytes in which formats describe the rest
MAGIC = b"profmount folder\n"


def files_of(data):
    """Where the files in an input begin and end."""
    if not data.startswith(MAGIC):
        return [(0, len(data))]
    at, found = len(MAGIC), []
    while at + 5 <= len(data):
        size = int.from_bytes(data[at + 1:at + 5], "little")
        found.append((at + 5, at + 5 + size))
        at += 5 + size
    return found


def damage(data, dice):
    """One variant."""
    ret = bytearray(data)
    files = [f for f in files_of(data) if f[0] < f[1]]
    for _ in range(dice.choice((1, 1, 2, 8)) if files else 0):
        start, end = dice.choice(files)
        if dice.random() < 0.7:
            end = min(end, start + HEAD)
        at, how = dice.randrange(start, end), dice.randrange(4)
        if how == 0:
            ret[at] ^= 1 << dice.randrange(8)
        elif how == 1:
            ret[at] = dice.randrange(256)
        elif how == 2:
            ret[at:at + 8] = dice.choice((b"\xff" * 8, bytes(8), (1 << dice.randrange(64)).to_bytes(8, "little")))[:end - at]
        else:  # the file is shorter than it says
            ret[at:end] = bytes(end - at)
    return bytes(ret)


def main(target, sources, samples, each="1"):
    with tempfile.TemporaryDirectory() as to:
        seeds, made = os.path.join(to, "seeds"), os.path.join(to, "made")
        os.mkdir(made)
        cases = [CASES + "/start-js-min"] if os.path.isdir(CASES) else print("SKIPPED: damaged sources of ../shared/cases") or []
        subprocess.run([sys.executable, os.path.join(HERE, "seeds.py"), seeds, *glob.glob(sources + "/*"),
                        *glob.glob(samples + "/*/"), *cases], check=True)
        n = 0
        for name in sorted(os.listdir(seeds)):
            with open(os.path.join(seeds, name), "rb") as f:
                data = f.read()
            dice = random.Random(name.rsplit("_", 1)[-1])
            for i in range(int(each)):
                with open(os.path.join(made, f"{name[-40:]}-{i}"), "wb") as f:
                    f.write(damage(data, dice))
                n += 1
        paths = [os.path.join(seeds, name) for name in os.listdir(seeds)] + sorted(glob.glob(made + "/*"))
        lanes = len(os.sched_getaffinity(0))
        running = [subprocess.Popen([target, *paths[i::lanes]]) for i in range(lanes)]
        if all([done.wait() == 0 for done in running]):
            print(f"{n} damaged sources: nothing crashes, and what is delivered holds together")
            return 0
        for path in paths:  # which one
            if subprocess.run([target, path], check=False, stderr=subprocess.DEVNULL).returncode:
                keep = os.path.join(tempfile.gettempdir(), os.path.basename(path))
                os.replace(path, keep)
                print(f"{keep}: {target} fails")
        return 1


sys.exit(main(*sys.argv[1:]))
