#!/usr/bin/env python3
"""Compares what two binaries make of every source of a corpus: all files of --extract, its messages and its exit code.

    identical.py BEFORE AFTER CORPUS [--only TEXT] [--jobs N] [--max SIZE] [--keep FOLDER]

CORPUS holds FORMAT/data/SOURCE (and FORMAT/synthetic, FORMAT/reject), or is a folder of sources. Prints the paths
that differ, at most 20 a source, and at the end how many sources were compared. Exit 0 if nothing differs, 1 if
something does or there was nothing to compare.

For changes that must not change what is served: BEFORE is built from the commit before them. With --keep the digests
of what BEFORE makes are kept in FOLDER and used again.
"""
import argparse
import concurrent.futures
import hashlib
import json
import os
import stat
import subprocess
import sys
import tempfile

SHOWN = 20
FOLDERS = ("data", "synthetic", "reject")


def sources(corpus):
    """(label, path) of every source, hidden files aside."""
    def entries(folder):
        return sorted(name for name in os.listdir(folder) if not name.startswith("."))

    found = []
    for fmt in entries(corpus):
        for part in FOLDERS:
            folder = os.path.join(corpus, fmt, part)
            if os.path.isdir(folder):
                found += [(f"{fmt}/{part}/{name}", os.path.join(folder, name)) for name in entries(folder)]
    return found or [(name, os.path.join(corpus, name)) for name in entries(corpus)]


def extract(binary, source, to, most):
    """Exit code and messages, without the name of the folder that was written to."""
    command = [binary, *(["-o", f"max={most}"] if most else []), "--extract", source, to]
    done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=1200, check=False)
    return done.returncode, (done.stdout + done.stderr).replace(to, "TO")


def digest(path, folder=None):
    with open(os.open(path, os.O_RDONLY, dir_fd=folder), "rb") as file:
        return hashlib.file_digest(file, "blake2b").hexdigest()


def tree(top):
    """
    The contents of a folder: path → "folder", the target of a link, or the digest of a file. Goes down and up with one
    open folder, since trees may be deeper than the limit of a path.
    """
    found, path, levels, folder = {}, [], [], os.open(top, os.O_RDONLY)
    levels.append(sorted(os.listdir(folder)))
    while True:
        if not levels[-1]:
            levels.pop()
            if not levels:
                os.close(folder)
                return found
            path.pop()
            folder = step(folder, "..")
            continue
        name = levels[-1].pop()
        kind = os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode
        here = "/".join([*path, name])
        if stat.S_ISDIR(kind):
            found[here] = "folder"
            path.append(name)
            folder = step(folder, name)
            levels.append(sorted(os.listdir(folder)))
        else:
            found[here] = "link to " + os.readlink(name, dir_fd=folder) if stat.S_ISLNK(kind) else digest(name, folder)


def step(folder, name):
    there = os.open(name, os.O_RDONLY | os.O_DIRECTORY, dir_fd=folder)
    os.close(folder)
    return there


def made(binary, source, most):
    """(exit code, messages, tree) of one source."""
    folder = tempfile.mkdtemp(prefix="profmount-identical-")
    try:
        return [*extract(binary, source, folder, most), tree(folder)]
    finally:
        subprocess.run(["rm", "-rf", "--", folder], check=False)  # which goes as deep as it must


def kept(folder, binary, source, most):
    """The same of the binary BEFORE, from the folder if it is there."""
    if not folder:
        return made(binary, source, most)
    key = hashlib.blake2b(f"{digest(binary)} {os.path.abspath(source)} {most}".encode()).hexdigest()[:32]
    path = os.path.join(folder, key + ".json")
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    found = made(binary, source, most)
    os.makedirs(folder, exist_ok=True)
    with open(f"{path}.{os.getpid()}", "w", encoding="utf-8") as file:
        json.dump(found, file)
    os.rename(f"{path}.{os.getpid()}", path)
    return found


def differences(a, b):
    for path in sorted(a.keys() | b.keys()):
        if path not in b:
            yield f"{path}: only before"
        elif path not in a:
            yield f"{path}: only after"
        elif a[path] != b[path]:
            yield f"{path}: differs"


def compare(job):
    label, source, arguments = job
    try:
        before = kept(arguments.keep, arguments.before, source, arguments.max)
        after = made(arguments.after, source, arguments.max)
    except subprocess.TimeoutExpired:
        return label, ["no answer in 1200 s"], 0, 124
    found = list(differences(before[2], after[2]))
    if before[:2] != after[:2]:
        found.append(f"exit code or messages: {before[:2]} before, {after[:2]} after")
    return label, found, len(after[2]), after[0]


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("before")
    p.add_argument("after")
    p.add_argument("corpus")
    p.add_argument("--only", default="", help="sources whose label, FORMAT/data/NAME, holds this")
    p.add_argument("--jobs", type=int, default=2)
    p.add_argument("--max", help="as -o max=")
    p.add_argument("--keep", help="folder for digests of what BEFORE makes")
    a = p.parse_args()
    a.before, a.after = os.path.abspath(a.before), os.path.abspath(a.after)
    jobs = [(label, path, a) for label, path in sources(a.corpus) if a.only in label]
    if not jobs:
        sys.exit(f"{a.corpus}: no source whose label holds '{a.only}'")
    differing = files = refused = 0
    with concurrent.futures.ThreadPoolExecutor(a.jobs) as pool:
        for label, found, n, code in pool.map(compare, jobs):
            files += n
            refused += n == 0 and code != 0
            differing += bool(found)
            for line in found[:SHOWN]:
                print(f"{label}: {line}", flush=True)
            if len(found) > SHOWN:
                print(f"{label}: … and {len(found) - SHOWN} more", flush=True)
    print(f"{len(jobs)} sources, {files} files; {refused} refused; {differing} differ")
    sys.exit(1 if differing else 0)


main()
