"""Circles between the files of one room, by headers and by calls.

A header's node stands for its inline functions, a source file's node for the functions and objects that it
defines for others. A file points to what it uses: the definition, not the declaration, so a header that
several files fill hides nothing. Headers also point to the headers that they include.
"""
import os
import re

PARAMETERS = r"\((?:[^;{}]*)\)\s*\n\{\n(.*?)^\}"
FUNCTION = re.compile(r"^(?!static\b)\w[\w \*]*?\b(\w+)" + PARAMETERS, re.M | re.S)
INLINE = re.compile(r"^static inline\b[\w\s\*]*?\b(\w+)" + PARAMETERS, re.M | re.S)
OBJECT = re.compile(r"^(?!static\b|typedef\b|extern\b|return\b)\w[\w \*]*?\b(\w+)(?:\[[^\]]*\])* =", re.M)
INCLUDE = re.compile(r'^#\s*include "([^"]+)"', re.M)
NOISE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\b(?:struct|enum|union)\s+\w+', re.S)


def words(code):
    return set(re.findall(r"\w+", code))


class File:
    """One file: its external definitions, the words it uses, the headers it includes."""

    def __init__(self, root, room, name):
        self.name = name
        with open(os.path.join(root, room, name), encoding="utf-8") as f:
            text = f.read()
        code = NOISE.sub(" ", text)
        self.defines, self.includes = set(), set()
        if name.endswith(".c"):
            self.defines = {name for name, _ in FUNCTION.findall(code)} | set(OBJECT.findall(code))
            self.uses = words(code)
        else:
            inlines = INLINE.findall(code)
            self.defines = {function for function, _ in inlines}
            self.uses = words(" ".join(body for _, body in inlines))
            self.includes = {
                os.path.basename(path) for path in INCLUDE.findall(text) if os.path.dirname(path) == room
            }


def arrows(files):
    """Which file points to which."""
    owner = {name: file.name for file in files for name in file.defines}
    known = {file.name for file in files}
    found = {}
    for file in files:
        to = {owner[word] for word in file.uses if word in owner} | (file.includes & known)
        # A source file and its own header are one thing where the header is a shortcut into it.
        found[file.name] = to - {file.name, file.name[:-2] + ".h" if file.name.endswith(".c") else ""}
    return found


def reach(points, start):
    seen, todo = set(), [start]
    while todo:
        for to in points[todo.pop()] - seen:
            seen.add(to)
            todo.append(to)
    return seen


def circles(root, room):
    """Each circle of the room: the names of its files, sorted."""
    names = sorted(os.listdir(os.path.join(root, room)))
    files = [File(root, room, name) for name in names if name.endswith((".c", ".h"))]
    points = arrows(files)
    beyond = {name: reach(points, name) for name in points}
    return sorted({tuple(sorted(b for b in beyond[a] if a in beyond[b])) for a in points if a in beyond[a]})


def why(root, room, circle):
    """The arrows within a circle, a line each."""
    files = {name: File(root, room, name) for name in circle}
    for a in circle:
        for b in circle:
            shared = files[a].uses & files[b].defines
            if a != b and (shared or b in files[a].includes):
                yield f"    {a} -> {b}: {', '.join(sorted(shared)) or 'includes it'}"
