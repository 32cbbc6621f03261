#!/usr/bin/env python3
"""Includes point down: the layers of docs/architecture.md, checked over every file. Nor do files of one room
use each other in circles (circles.py). A tag in a header has a prefix and one meaning. What grows with the source is sorted by pm_sort.

    check_includes.py [ROOT]
"""
import os
import re
import sys

import circles

# The rooms of fs/views: each may include those before it.
VIEWS = ("model", "sums", "tables", "texts", "exports", "pictures", "report")
# A file of the left room may include headers of its own room and of the rooms on the right.
ROOMS = (
    ("include/profmount/", ()),
    ("formats/common/", ("include/profmount/",)),
    ("formats/registry.c", ("include/profmount/", "formats/common/")),
    ("formats/symbols/", ("include/profmount/", "formats/common/")),
    ("formats/builder/", ("include/profmount/", "formats/common/", "formats/symbols/symbols.h")),
    ("formats/", ("include/profmount/", "formats/common/", "formats/symbols/symbols.h", "formats/builder/")),
    *(
        (f"fs/views/{room}/", ("include/profmount/", "formats/common/") + tuple(f"fs/views/{r}/" for r in VIEWS[:i]))
        for i, room in enumerate(VIEWS)
    ),
    ("fs/views/", ("include/profmount/", "formats/common/")),
    ("fs/document/", ("include/profmount/", "formats/common/")),
    ("fs/compare/", ("include/profmount/", "formats/common/", "fs/views/")),
    ("fs/filters/", ("include/profmount/", "formats/common/", "fs/views/")),
    ("fs/windows/", ("include/profmount/", "formats/common/", "fs/filters/")),
    ("fs/tree/", ("include/profmount/", "formats/common/", "fs/views/", "fs/document/", "fs/filters/", "fs/windows/")),
    ("fs/runs/", ("include/profmount/", "formats/common/", "fs/views/", "fs/compare/", "fs/filters/", "fs/tree/")),
    ("fs/", ("include/profmount/", "formats/common/", "fs/views/", "fs/document/", "fs/filters/", "fs/windows/", "fs/tree/", "fs/runs/")),
)
# A third-party library has one door.
LIBRARIES = {
    "fuse_lowlevel.h": ("fs/mount_ops.h",),
    "zlib.h": ("formats/common/inflate.c",),
    "seccomp.h": ("fs/confine_calls.c",),
    "libdeflate.h": ("formats/common/inflate.c",),
    "isa-l/igzip_lib.h": ("formats/common/inflate.c",),
    "lz4.h": ("formats/common/inflate.c",),
    "elfutils/libdw.h": ("formats/symbols/dwarf.c", "formats/symbols/unwind.c"),
    "lzma.h": ("formats/symbols/kernel.c",),
    "libiberty/demangle.h": ("formats/symbols/demangle.c",),
    "demangle.h": ("formats/symbols/demangle.c",),
    "expat.h": ("formats/symbols/structs.c",),
}
# What tags of headers begin with: nobody has to know where a struct is from.
PREFIXES = ("pm", "sym", "pmfs", "hpctk", "hpcrun", "nytp", "zts", "htd", "pprof", "tev", "cg", "perf")
# Files that may use qsort, and the bound of what they sort.
QSORT = {
    "formats/common/sort.c": "RUN",
    "formats/common/damage.c": "PM_LIMIT_DAMAGE",
    "formats/htdump/order.c": "HTD_CHUNK",
    "fs/views/model/columns.c": "PM_LIMIT_COLUMNS",
    "fs/views/sums/durations.c": "PMFS_SLOWEST",
}
# Files that may assert, and why no input can make the assertion fail. The program goes on where others would stop.
ASSERTS = {
    "formats/common/lazy.c": "the size of a type, where it is used",
    "fs/views/model/categories.c": "the number of words in a table of ours",
}


# Where an engine lives, and what only its code has: a second one would be a second answer. See docs/architecture.md, Engines.
HOMES = {
    "fs/views/sums/stacks.c": r"parent << 32 \| name",
    "fs/views/tables/trace.c": r'"timestamp_ns", "context_id", "depth"',
    "formats/zts/reader.c": r"(==|case) ZTS_RECORD_INFO|ZTS_HEAD_LONE_PAIR <<",
    "formats/common/percentiles.c": r"quantile|\bpercentile(_\w+)?\(|\+ 99\) ?/ ?100",
}


def circle_breaches(root, room):
    for circle in circles.circles(root, room):
        yield f"{room}: a circle: {' '.join(circle)}"
        yield from circles.why(root, room, circle)


def room_of(path):
    """The room and, for a format, its folder: a format never includes another one."""
    for room, below in ROOMS:
        if path.startswith(room):
            if room == "formats/":
                room = "/".join(path.split("/")[:2]) + "/"
            return room, below
    return None, ()


def breaches(root, path):
    room, below = room_of(path)
    with open(os.path.join(root, path), encoding="utf-8") as f:
        for number, line in enumerate(f, 1):
            if re.search(r"\bqsort(_r)?\(", line) and path not in QSORT:
                yield f"{path}:{number}: qsort, where pm_sort can be cancelled"
            if re.search(r"\b(assert|abort)\(", line) and path not in ASSERTS:
                yield f"{path}:{number}: ends the program, where a document could fail"
            for home, code in HOMES.items():
                if re.search(code, line) and path != home:
                    yield f"{path}:{number}: this is what {home} does"
            match = re.match(r'\s*#\s*include\s*([<"])([^>"]+)', line)
            if not match:
                continue
            quoted, name = match.group(1) == '"', match.group(2)
            if name in LIBRARIES and path not in LIBRARIES[name]:
                yield f"{path}:{number}: <{name}> belongs to {', '.join(LIBRARIES[name])}"
            if not quoted:
                continue
            full = "include/" + name if name.startswith("profmount/") else name
            if not full.startswith((room,) + below):
                yield f"{path}:{number}: {name} is not below {room}"


def tag_breaches(root, path, known):
    """Structs, unions and enums of a header without a prefix, and those that another header defines as well."""
    with open(os.path.join(root, path), encoding="utf-8") as f:
        for tag in re.findall(r"^(?:struct|union|enum) (\w+) \{", f.read(), re.MULTILINE):
            if tag.split("_")[0] not in PREFIXES:
                yield f"{path}: {tag} has no prefix"
            first = known.setdefault(tag, path)
            if first != path:
                yield f"{path}: {tag} is also in {first}"


def home_breaches(root):
    """Homes that no longer have what only they may have: the pattern has to follow the code."""
    for home, code in HOMES.items():
        with open(os.path.join(root, home), encoding="utf-8") as f:
            if not re.search(code, f.read()):
                yield f"{home}: HOMES does not describe it any more"


def main():
    root, found, files, tags = sys.argv[1] if len(sys.argv) > 1 else ".", [], 0, {}
    found += home_breaches(root)
    for top in ("include", "formats", "fs"):
        for folder, _, names in os.walk(os.path.join(root, top)):
            for name in names:
                if name.endswith((".c", ".h")):
                    files += 1
                    path = os.path.relpath(os.path.join(folder, name), root)
                    found += breaches(root, path)
                    found += tag_breaches(root, path, tags) if name.endswith(".h") else []
            found += circle_breaches(root, os.path.relpath(folder, root))
    print("\n".join(found) or f"{files} files: includes point down, no circles")
    sys.exit(1 if found or files < 10 else 0)


if __name__ == "__main__":
    main()
