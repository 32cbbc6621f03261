#!/usr/bin/env python3
"""Functions, inlined functions and lines of addresses are those that addr2line has:

    test_addr2line.py SYMBOLS_AT PROGRAM…

Programs are compiled from this repository, with the default compiler; those without DWARF are skipped.
"""
import os
import random
import re
import shutil
import subprocess
import sys

SYMBOLS_AT, PROGRAMS = sys.argv[1], sys.argv[2:]
SOURCES = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))) + "/"
ADDRESSES = 2000


def code_of(program):
    """Where the code is, or None if the program has no DWARF."""
    sections = subprocess.run(["readelf", "-SW", program], capture_output=True, text=True, check=True).stdout
    found = re.search(r" \.text +PROGBITS +([0-9a-f]+) [0-9a-f]+ ([0-9a-f]+)", sections)
    return range(int(found[1], 16), int(found[1], 16) + int(found[2], 16)) if found and ".debug_info" in sections else None


def plain(name):
    """Without what a compiler appends to the symbol of a part or a variant: DWARF may have it or not."""
    return re.sub(r"\.(constprop|isra|part|cold|lto_priv)(\.\d+)*", "", name)


def frames_of_ours(program, addresses):
    root, path = "/", os.path.abspath(program)
    out = subprocess.run([SYMBOLS_AT, root, path], input=addresses, capture_output=True, text=True, check=True).stdout
    for line in out.splitlines():
        words = line.split("\t")[:-1]
        yield [(plain(name), place) for name, place in zip(words[::2], words[1::2])]


def frames_of_addr2line(program, addresses):
    out = subprocess.run(["addr2line", "-a", "-i", "-f", "-e", program], input=addresses, capture_output=True, text=True,
                         check=True).stdout
    for block in re.split(r"^0x[0-9a-f]+\n", out, flags=re.M)[1:]:
        words = block.splitlines()
        yield [(plain(name), re.sub(r" \(discriminator \d+\)", "", place)) for name, place in zip(words[::2], words[1::2])]


def line(place):
    """addr2line of binutils 2.40 has wrong files for headers in DWARF 5."""
    return place.rsplit(":", 1)[1]


def is_known(frames):
    """By DWARF: several symbols may have one address, and the names of either."""
    return bool(frames) and not frames[0][1].endswith((":0", ":?"))


def differs(ours, theirs):
    if not is_known(ours) or not is_known(theirs):
        return False
    if [name for name, _ in ours] != [name for name, _ in theirs]:
        return True
    return any(line(x) != line(y) for (_, x), (_, y) in zip(ours, theirs))


def check(program):
    code = code_of(program)
    if not code:
        return 0
    random.seed(1)
    numbers = [random.choice(code) for _ in range(ADDRESSES)]
    addresses = "".join(f"{n:x}\n" for n in numbers)
    compared = 0
    all_ours, all_theirs = list(frames_of_ours(program, addresses)), list(frames_of_addr2line(program, addresses))
    assert len(all_ours) == len(all_theirs) == len(numbers), program
    for n, ours, theirs in zip(numbers, all_ours, all_theirs):
        assert not differs(ours, theirs), f"{program} {n:#x}:\n{ours}\n{theirs}"
        compared += is_known(ours) and is_known(theirs)
        for _, place in ours if is_known(ours) else ():
            file = place.rsplit(":", 1)[0]
            assert file.startswith("/") and file == os.path.normpath(file), place
            assert os.path.exists(file) or not file.startswith(SOURCES), place
    print(f"{program}: {compared} of {ADDRESSES} compared")
    assert compared > ADDRESSES / 2, program
    return compared


if not shutil.which("addr2line") or not shutil.which("readelf"):
    print("addr2line and readelf are missing: install binutils")
    sys.exit(77)
if not sum(check(program) for program in PROGRAMS):
    print("no program has DWARF: build with -Dbuildtype=debugoptimized")
    sys.exit(77)
