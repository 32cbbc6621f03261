"""callgrind.out: the grammar as its writers use it, and what is made of it. Each case is a file and what documents of it say.

    test_callgrind.py PROFMOUNT
"""
import csv
import io
import os
import re
import subprocess
import sys
import tempfile

profmount = sys.argv[1]
failures = 0
HEAD = "# callgrind format\npositions: line\nevents: Ir\n"


def run(text, *paths):
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "callgrind.out")
        with open(source, "wb") as file:
            file.write(text if isinstance(text, bytes) else text.encode())
        return [subprocess.run([profmount, "--cat", source, path], capture_output=True, text=True, check=False) for path in paths]


def rows(result, *columns):
    table = list(csv.DictReader(io.StringIO(result.stdout)))
    return [" ".join(row[c] for c in columns) for row in table]


def check(what, got, want):
    global failures
    if got != want:
        failures += 1
        print(f"FAILED: {what}\n  {got}\n  {want}")


def damage(result):
    return rows(result, "what")


def graph():
    """Direct recursion, a circle of three, and what only is called."""
    functions, cycles, members, callers = run(
        HEAD + """
fn=main
1 10
cfn=f
calls=1 1
2 70
cfn=a
calls=1 1
3 100
fn=f
1 20
cfn=f
calls=4 1
2 130
cfn=leaf
calls=5 1
3 50
fn=a
1 7
cfn=b
calls=3 1
2 170
fn=b
1 13
cfn=c
calls=1 1
2 60
fn=c
1 30
cfn=a
calls=2 1
2 80
cfn=leaf
calls=3 1
4 50
""", "functions.csv", "cycles.csv", "cycle-members.csv", "callers.csv")
    check("graph", rows(functions, "ir_excl", "ir_incl", "calls", "name"),
          ["30  1 c", "20 70 5 f", "13  3 b", "10 180  main", "7  3 a", "0  8 leaf", " 100  <cycle 1>"])
    check("circles", rows(cycles, "cycle_id", "functions", "ir_excl", "ir_incl", "name"), ["1 3 50 100 <cycle 1>"])
    check("members", rows(members, "ir_excl", "name"), ["30 c", "13 b", "7 a"])
    check("edges", [row for row in rows(callers, "calls", "ir_incl", "line", "caller", "callee") if row.endswith("f f")], ["4 130  f f"])


def files_and_names():
    """fi and fe move lines, not functions; a callee is in the current file; numbers of all keys of a kind are one table."""
    functions, lines = run(
        HEAD + """
ob=(1) /bin/p
fl=(1) a.c
fn=(1) f
10 1
fi=(2) in.h
20 2
-5 4
cfn=(2) g
calls=1 1
21 100
fe=(1)
+0 8
cfi=(1)
cfn=(2)
calls=1 1
12 5
fn=(3) (below main)
30 32
ob=(2) ???
fl=(3) ???
fn=(4) ???
0 64
""", "functions.csv", "lines.csv")
    check("files", rows(functions, "ir_excl", "ir_incl", "module", "file", "name"),
          ["64 64   (unknown)", "32 32 /bin/p a.c (below main)", "15 120 /bin/p a.c f", "0  /bin/p in.h g", "0  /bin/p a.c g"])
    check("lines", sorted(row for row in rows(lines, "line", "ir_excl", "file") if row.split(" ")[1] not in ("", "0")),
          sorted([" 64 ", "10 1 a.c", "15 4 in.h", "20 2 in.h", "21 8 a.c", "30 32 a.c"]))


def numbers():
    """Subpositions, hexadecimal, missing costs, sums over events, units, decimals, negative costs."""
    functions, lines = run("""positions: instr line
events: Ir Dr
event: Sum = Ir + 2 Dr : both
fl=a.c
fn=f
0x1000 10 1 2
+4 +2 3
+0x4 -1 0x10 1
* * 5
""", "functions.csv", "lines.csv")
    check("positions", rows(lines, "line", "ir_excl", "dr_excl", "sum_excl"), ["11 21 1 23", "12 3 0 3", "10 1 2 5"])
    check("sums", rows(functions, "ir_excl", "dr_excl", "sum_incl"), ["25 3 31"])
    units, = run("""events: Time_(\u00b5s) Memory_(bytes) Wall(10ns) us us
fl=a
fn=f
1 1.5 -200 3 2 7
""", "functions.csv")
    check("units", units.stdout.split("\n")[0].split(",")[2:12:2],
          ["time_ns_excl", "memory_bytes_excl", "wall_ns_excl", "time_ns_2_excl", "time_ns_3_excl"])
    check("decimals", rows(units, "time_ns_excl", "memory_bytes_excl", "wall_ns_excl", "time_ns_2_excl"), ["1500 -200 30 2000"])


def shapes():
    """A line of costs is the same in the middle of a file, where its end is found as it is read, as at the end of the file."""
    for cost, want in (
            ("5 1 2", "5 1 2"), ("+3 7", "10 7 0"), ("-2 7 8", "5 7 8"), ("* 4 5", "7 4 5"), ("*", "7 0 0"), ("+12", "19 0 0"),
            ("5 1234567 7654321", "5 1234567 7654321"), ("5 12345678 1", "5 12345678 1"), ("12345678 1", "12345678 1 0"),
            ("5 123456789012345678 3", "5 123456789012345678 3"),
            ("5 9223372036854775807 3", "5 9223372036854775807 3"), ("5 -9223372036854775807 3", "5 -9223372036854775807 3"),
            ("5 0x7fffffffffffffff 3", "5 9223372036854775807 3"), ("5 9223372036854775808 3", None), ("5 0x8000000000000000 3", None),
            ("5 4611686018427387904000 3", None),
            ("0x10 3 4", "16 3 4"), ("5 0xff 1", "5 255 1"), ("5 1.5 2", "5 1.5 2"), ("5 -3 2", "5 -3 2"), ("5  6   7", "5 6 7"),
            ("5\t6\t7", "5 6 7"), ("5 6 7 ", "5 6 7"), ("5 6 7\r", "5 6 7"), ("5 6 ", "5 6 0"), ("00000005 6 7", "5 6 7"),
            ("5 6 7 8", None), ("5 6,7", None), ("5 6/", None), ("5 :", None), ("+ 6 7", None), ("5x 6", None), ("** 1", None)):
        text = f"events: Ir Dr\nfl=a.c\nfn=f\n7 0 0\n{cost}\n"
        for place, behind in (("at the end", ""), ("in the middle", "\n" + "# nothing\n" * 20)):
            lines, damaged = run(text + behind, "lines.csv", "damage.csv")
            costs = [row for row in rows(lines, "line", "ir_excl", "dr_excl") if row != "7 0 0"] or ["7 0 0"]
            check(f"{cost!r} {place}", costs, ["7 0 0" if want is None else want])
            check(f"damage of {cost!r} {place}", len(damage(damaged)), int(want is None))


def exact():
    """Whole numbers that a double does not have, as they are and added up: of a graph, and of a tree."""
    first, second = 2**53 + 1, 2**59 + 1
    functions, callers, lines, files = run(
        HEAD + f"""
fl=a.c
fn=main
1 {first}
cfn=f
calls=3 1
2 {second}
fn=f
5 {second}
""", "functions.csv", "callers.csv", "lines.csv", "files.csv")
    check("functions beyond 2^53", rows(functions, "ir_excl", "ir_incl", "name"), [f"{second} {second} f", f"{first} {first + second} main"])
    check("edges beyond 2^53", rows(callers, "ir_incl", "callee"), [f"{second} f"])
    check("lines beyond 2^53", rows(lines, "line", "ir_excl")[:2], [f"5 {second}", f"1 {first}"])
    check("files beyond 2^53", rows(files, "ir_excl"), [str(first + second)])
    functions, callers = run(f"main;f {first}\nmain;g;f {second}\nmain;g 2\n", "functions.csv", "callers.csv")
    check("sums of a tree", rows(functions, "count_excl", "count_incl", "name"),
          [f"{first + second} {first + second} f", f"2 {second + 2} g", f"0 {first + second + 2} main"])
    check("edges of a tree", rows(callers, "count_incl", "caller", "callee")[1:],
          [f"{second + 2} main g", f"{second} g f", f"{first} main f"])
    with tempfile.TemporaryDirectory() as folder:
        for name, cost in (("before", first), ("after", second)):
            with open(os.path.join(folder, name), "w", encoding="ascii") as file:
                file.write(HEAD + f"\nfn=main\n1 {cost}\n")
        both = [os.path.join(folder, name) for name in ("before", "after")]
        done = subprocess.run([profmount, "--cat", *both, "--", "compare/after/functions.csv"], capture_output=True, text=True, check=False)
        check("compared beyond 2^53", rows(done, "ir_excl_base", "ir_excl", "ir_excl_diff"), [f"{first} {second} {second - first}"])


def summaries():
    """Each of several summaries is of its part; a single one is of the file."""
    part = "# callgrind format\npid: 3\npart: {}\nevents: Ir\n{}fn=f\n1 {}\n"
    for texts, said in ((("summary: 5\n", "summary: 7\n"), []), (("summary: 5\n", "summary: 8\n"), ["part, 8,"]),
                        (("summary: 12\n", ""), []), (("", "summary: 7\n"), ["file, 7,"])):
        (summary,) = run(part.format(1, texts[0], 5) + part.format(2, texts[1], 7), "summary.txt")
        check(texts, re.findall("The summary of the (.*?) is not", " ".join(summary.stdout.split())), said)


def parts():
    """Parts have events of their own, and threads; totals are compared."""
    functions, threads, raw, damaged = run("""# callgrind format
version: 1
creator: callgrind-3.19.0
part: 1
thread: 1
events: Ir
fl=(1) a.c
fn=(1) f
1 5
cfn=(2) g
calls=0 9
2 40
totals: 5
part: 1
thread: 2
events: Dr Ir
fn=(2)
9 1 6
totals: 1 6
""", "functions.csv", "threads.csv", "raw/parts.csv", "damage.csv")
    check("parts", rows(functions, "ir_excl", "ir_incl", "dr_excl", "calls", "name"), ["6 6 1  g", "5 45 0  f"])
    check("threads", rows(threads, "thread", "ir_excl", "dr_excl", "path"), ["1 5  threads/thread=1", "2 6 1 threads/thread=2"])
    check("raw", rows(raw, "part", "thread", "lines", "totals"), ["1 1 2 5", "1 2 1 1 6"])
    check("sound", damage(damaged), [])


def sums():
    """Sums of sums name an event 2^k times; factors beyond 63 bits are said."""
    chain = "".join(f"event: S{k} = S{k - 1} + S{k - 1} : x\n" for k in range(1, 41))
    functions, damaged = run("# callgrind format\n" + "event: S0 = Ir : x\n" + chain + "events: Ir\nfn=f\n1 3\n", "functions.csv",
                             "damage.csv")
    check("sums of sums", rows(functions, "s1_excl", "s40_excl"), [f"6 {3 << 40}"])
    check("sums of sums are sound", damage(damaged), [])
    large = "event: A = 2000000000 Ir : x\nevent: B = 2000000000 A : x\nevent: C = 2000000000 B : x\nevent: D = B + B + B : x\n"
    info, damaged = run("# callgrind format\n" + large + "events: Ir\nfn=f\n1 1\n", "functions.csv", "damage.csv")
    check("factors beyond 63 bits", (info.returncode, len(damage(damaged))), (0, 1))


def xdebug():
    """A block a call, when it returns: the exact tree; a file that is none has edges, and damage."""
    head = "version: 1\ncreator: xdebug 3.2.0\nevents: Time_(10ns)\n\n"
    contexts, info = run(head + """fl=(1) x.php
fn=(2) b
1 3

fl=(1)
fn=(3) a
1 10
cfl=(1)
cfn=(2)
calls=1 0 0
2 3

fl=(1)
fn=(2)
1 7

fl=(1)
fn=(4) {main}
1 100
cfl=(1)
cfn=(3)
calls=1 0 0
2 13
cfl=(1)
cfn=(2)
calls=1 0 0
2 7

summary: 999
""", "contexts.csv", "info.json")
    kept = [row for row in rows(contexts, "depth", "time_ns_incl", "kind", "name") if "function" in row]
    check("tree", kept, ["0 1200 function {main}", "2 130 function a", "4 30 function b", "2 70 function b"])
    check("calls", '"contexts_are": "calls"' in info.stdout and '"damaged": false' in info.stdout, True)
    functions, damaged = run(head + """fl=(1) x.php
fn=(4) {main}
1 100
cfl=(1)
cfn=(3) a
calls=1 0 0
2 17

fl=(1)
fn=(3)
1 17
""", "functions.csv", "damage.csv")
    check("no tree", rows(functions, "time_ns_incl", "calls", "name"), ["1170  {main}", "170 1 a"])
    check("said", ["no calls in the order" in what for what in damage(damaged)], [True])


def damaged():
    functions, rows_of = run(HEAD + """
fl=a.c
fn=f
1 5
what is this
2 x7
3 6 7 8
calls=1 2
4 100
fn=(9)
5 1
cfn=h
calls=1 1
""", "functions.csv", "damage.csv")
    check("what is whole", rows(functions, "ir_excl", "name"), ["105 f", "1 (9)"])
    said = damage(rows_of)
    check("damage", [any(word in what for what in said) for word in ("3 more like it", "has no name", "without a line of costs")],
          [True, True, True])
    cut, = run("creator: callgrind-3.19.0\nevents: Ir\nfn=f\n1 5\n2 700", "damage.csv")
    check("cut", ["left out" in what for what in damage(cut)], [True])
    lie, = run("creator: callgrind-3.19.0\nevents: Ir\nfn=f\n1 5\ntotals: 6\n", "damage.csv")
    check("lie", ["is not the sum" in what for what in damage(lie)], [True])
    lie, = run(f"events: Ir\nfn=f\n1 {10**12}\ntotals: {10**12 + 1}\n", "damage.csv")
    check("lie in the last digit", ["is not the sum" in what for what in damage(lie)], [True])
    refused, = run("# callgrind format\nfn=f\n1 5\n", "functions.csv")
    check("refused", (refused.returncode != 0, "has no line `events:`" in refused.stderr), (True, True))
    nothing, = run("events: Ir\nnothing else\n", "functions.csv")
    check("not taken for callgrind", nothing.returncode != 0, True)


def export():
    """Costs of edges are parts of the run that are somewhere else, too: in pprof's files they would be there twice. Memory that
    is freed is negative."""
    for events, lines, more in (("Ir", "1 10\ncfn=f\ncalls=2 1\n2 70\nfn=f\n7 30\n8 40\n", ()),
                                ("Memory", "1 -200\ncfn=f\ncalls=2 1\n2 50\nfn=f\n7 80\n8 -30\n", ("export/memory.pb.gz",))):
        with tempfile.TemporaryDirectory() as folder:
            source, again = os.path.join(folder, "callgrind.out"), os.path.join(folder, "profile.pb.gz")
            with open(source, "w", encoding="utf-8") as file:
                file.write(HEAD.replace("Ir", events) + "fl=a.c\nfn=main\n" + lines)
            for name in ("export/profile.pb.gz", *more):
                with open(again, "wb") as file:
                    file.write(subprocess.run([profmount, "--cat", source, name], capture_output=True, check=False).stdout)
                column = events.lower() + "_excl"
                for path, columns in (("functions.csv", (column, "name")), ("lines.csv", ("line", column, "name"))):
                    a, b = (rows(subprocess.run([profmount, "--cat", s, path], capture_output=True, text=True, check=False), *columns)
                            for s in (source, again))
                    if name == "export/profile.pb.gz" or path == "functions.csv":  # the frames of one quantity have no lines
                        check(f"{name}: {path}", [row for row in b if not re.search(r"(^| )0 ", row)], [row for row in a if not re.search(r"(^| )0 ", row)])


def endless_header():
    """A header without events ends somewhere, however small the file is."""
    refused, = run("# callgrind format\n" + "desc: nothing\n" * 100_000 + "events: Ir\nfn=f\n1 5\n", "functions.csv")
    check("refused early", (refused.returncode != 0, "has no line `events:`" in refused.stderr), (True, True))


def folder_of_threads():
    """The files of one process are one run; ids are of each file; another process's are not of it."""
    part = "# callgrind format\npid: {}\nthread: {}\nevents: Ir\nfn=(1) {}\n1 {}\n"
    with tempfile.TemporaryDirectory() as source:
        def write(name, text):
            with open(os.path.join(source, name), "w", encoding="utf-8") as file:
                file.write(text)

        def cat(path):
            return subprocess.run([profmount, "--cat", source, path], capture_output=True, text=True, check=False)

        write("callgrind.out.9", "")

        def cat_empty():
            return subprocess.run([profmount, "--cat", os.path.join(source, "callgrind.out.9"), "functions.csv"],
                                  capture_output=True, text=True, check=False)

        check("empty alone", "is empty: the run ended" in cat_empty().stderr, True)
        write("callgrind.out.9-01", part.format(9, 1, "main", 10))
        check("one beside it", rows(cat_empty(), "ir_excl", "name"), ["10 main"])
        write("callgrind.out.9-02", part.format(9, 2, "work", 5))
        write("callgrind.out.9-10", part.format(9, 10, "main", 7) + "this is nothing\n")
        check("summed", rows(cat("functions.csv"), "ir_excl", "name"), ["17 main", "5 work"])
        check("threads", rows(cat("threads.csv"), "thread", "ir_excl"), ["1 10", "2 5", "10 7"])
        check("damage has its file", rows(cat("damage.csv"), "file"), ["callgrind.out.9-10"])
        check("the empty file beside them", cat_empty().stdout, cat("functions.csv").stdout)
        write("callgrind.out.9-11", "# callgrind format\npid: 9\ncmd: ./other\nthread: 11\nevents: Ir\nfn=main\n1 1\n")
        check("another command", rows(cat("functions.csv"), "name") == ["main", "work"], False)
        write("callgrind.out.9-11", part.format(9, 2, "main", 1))
        check("a thread twice", "are not parts of the same" in
              subprocess.run([profmount, "-o", "format=callgrind", "--cat", source, "functions.csv"], capture_output=True, text=True,
                             check=False).stderr, True)
        os.remove(os.path.join(source, "callgrind.out.9-11"))
        check("again one run", rows(cat("functions.csv"), "name"), ["main", "work"])
        before = cat("functions.csv").stdout
        write("callgrind.out.10", part.format(10, 1, "main", 1))
        check("not of one run", rows(cat("functions.csv"), "name") == ["main", "work"], False)
        check("parts are not runs", rows(cat("runs.csv"), "ir", "threads", "run"),
              ["22 3 callgrind.out.9", "1 1 callgrind.out.10"])
        check("nor are other runs parts", cat_empty().stdout, before)


def parts_beside_others():
    """Parts have the name of their run with their own number behind it, which is no part if it is that of the process."""
    part = "# callgrind format\npid: {}\ncmd: ./x\npart: {}\nevents: Ir\nfn=main\n1 {}\n"
    with tempfile.TemporaryDirectory() as source:
        for name, process, number, cost in (("a.out", 5, 3, 4), ("a.out.1", 5, 1, 1), ("a.out.2", 5, 2, 2), ("b.out.1.1", 1, 1, 8),
                                            ("b.out.1", 1, 2, 16), ("c.out.7", 5, 1, 32), ("c.out.8", 5, 1, 64), ("d.out.1", 1, 1, 128)):
            with open(os.path.join(source, name), "w", encoding="ascii") as file:
                file.write(part.format(process, number, cost))
        runs = subprocess.run([profmount, "--cat", source, "runs.csv"], capture_output=True, text=True, check=False)
        check("dumps", rows(runs, "ir", "run"), ["7 a.out", "24 b.out.1", "32 c.out.7", "64 c.out.8", "128 d.out.1"])


for case in (graph, files_and_names, numbers, shapes, exact, summaries, parts, sums, xdebug, damaged, export, endless_header, folder_of_threads,
             parts_beside_others):
    case()
print(f"{failures} failures")
sys.exit(failures > 0)
