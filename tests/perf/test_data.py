"""perf.data: what forks, execs, late maps and the kernel make of addresses, in either byte order, and what is left of a cut file.

    test_data.py PROFMOUNT FOLDER_OF_SMALL_SOURCES
"""
import collections
import csv
import io
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile

profmount, sources = sys.argv[1:]
failures = 0


def cat(source, path):
    return subprocess.run([profmount, "-o", "symbols=no", "--cat", source, path], capture_output=True, text=True, check=False)


def rows(source, path, *columns):
    table = csv.DictReader(io.StringIO(cat(source, path).stdout))
    return [" ".join(row[c] for c in columns) for row in table]


def check(what, got, want):
    global failures
    if got != want:
        failures += 1
        print(f"FAILED: {what}\n  {got}\n  {want}")


PROG = ["prog+0x1123", "prog+0x1456", "prog+0x1789"]
for name in ("new.perf.data", "big.perf.data", "perf.dir"):
    source = os.path.join(sources, name)
    check(f"{name}: functions", sorted(rows(source, "functions.csv", "samples_excl", "samples_incl", "module", "name")), sorted([
        "4 4 /opt/x/prog prog+0x1123", "0 5 /opt/x/prog prog+0x1456", "0 5 /opt/x/prog prog+0x1789",
        "1 1 [kernel.kallsyms] [kernel.kallsyms]+0xffffffff81000300", "0 1 [bpf] bpf_prog_7 trace",
        "1 1  0x400123", "0 1  0x400456", "0 1  0x400789", "1 1 //anon //anon+0x500010", "1 1  0x77"]))
    check(f"{name}: threads", rows(source, "threads.csv", "process", "thread", "cpu_clock_ns_excl", "samples_excl", "thread_name"), [
        "10 10 3000030 3 prog", "10 11 1000011 1 worker one", "20 20 3000060 3 child", "0 0 1000000 1 swapper"])
    check(f"{name}: sound", rows(source, "damage.csv", "what"), [])

pipe = os.path.join(sources, "pipe.perf.data")
check("pipe: all but the last sample", rows(pipe, "threads.csv", "samples_excl"), ["3", "1", "3"])
check("pipe: said", ["beyond the end" in what for what in rows(pipe, "damage.csv", "what")], [True])

# A directory of which a stream is missing.
with tempfile.TemporaryDirectory() as folder:
    shutil.copy(os.path.join(sources, "perf.dir", "data"), folder)
    shutil.copy(os.path.join(sources, "perf.dir", "data.0"), os.path.join(folder, "data.2"))
    check("missing streams are said", ["2 files before this one" in what for what in rows(folder, "damage.csv", "what")], [True])
    check("the others are read", rows(folder, "threads.csv", "samples_excl"), ["3", "1", "3", "1"])


def with_build_ids(whole, ids):
    """A file of perf with more records: build ids of files, by name."""
    more = b""
    for name, mode, build_id in ids:
        text = name.encode() + b"\0" * (8 - len(name) % 8)
        body = b"\xff" * 4 + build_id.ljust(24, b"\0") + text
        more += struct.pack("<IHH", 67, mode, 8 + len(body)) + body
    size, = struct.unpack_from("<Q", whole, 0x30)
    return whole[:0x30] + struct.pack("<Q", size + len(more)) + whole[0x38:] + more


# Why there are no names: another file, another kernel, nobody looked.
with tempfile.TemporaryDirectory() as folder:
    with open(os.path.join(sources, "new.perf.data"), "rb") as file:
        whole = file.read()
    path = os.path.join(folder, "perf.data")
    with open(path, "wb") as file:
        file.write(with_build_ids(whole, [("/opt/x/prog", 2, bytes(range(20))), ("[kernel.kallsyms]", 1, b"k" * 20)]))
    os.makedirs(os.path.join(folder, "root", "opt", "x"))
    shutil.copy("/bin/true", os.path.join(folder, "root", "opt", "x", "prog"))
    for options, prog, kernel in (("symbols=no", "symbols=no", "symbols=no"),
                                  ("sysroot=" + os.path.join(folder, "root"), "build id", "another kernel"),
                                  ("sysroot=" + folder, "not there", "another kernel")):
        table = subprocess.run([profmount, "-o", options, "--cat", path, "missing-symbols.csv"],
                               capture_output=True, text=True, check=False).stdout
        why = {row["module"]: (row["samples"], row["build_id"], row["why"]) for row in csv.DictReader(io.StringIO(table))}
        for module, build_id, reason in (("/opt/x/prog", bytes(range(20)).hex(), prog), ("[kernel.kallsyms]", "6b" * 20, kernel)):
            samples, id_is, why_is = why.get(module, ("", "", ""))
            check(f"{options}: {module}", (samples != "", id_is, reason in why_is), (True, build_id, True))
            if reason not in why_is:
                print("  " + why_is)


def record(kind, misc, body):
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def small_file(sample_type, records, branches=0):
    """A file with one event, cycles, and these records; `branches`: its branch_sample_type."""
    data = b"".join(records)
    attr = struct.pack("<IIQQQQQQQQQ", 0, 80, 0, 4000, sample_type, 0, 0, 0, 0, 0, branches)
    return (b"PERFILE2" + struct.pack("<8Q", 104, 96, 104, 96, 200, len(data), 0, 0) + bytes(32) + attr + bytes(16) + data)


class Maps:
    """What is mapped where in each process, one address at a time."""

    def __init__(self):
        self.of = {}

    def apply(self, what, pid, start=0, pages=0, name="", parent=0):
        if what == "fork":
            self.of[pid] = dict(self.of.get(parent, {}))
        elif what == "exec":
            self.of[pid] = {}
        else:
            self.of.setdefault(pid, {}).update((start + i, (name, i)) for i in range(pages))


def page_of(page):
    return 0x400000 + page * 0x1000


# Maps in maps, across forks that share them and change them afterwards: as a model has it that knows each page.
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "perf.data")
    chance = random.Random(7)
    model, data, want, PAGES, PROCESSES = Maps(), [], collections.Counter(), 400, 12
    for step in range(3000):
        pid, start, name = chance.randrange(PROCESSES), chance.randrange(PAGES), f"/opt/m{step}"
        what = chance.choices(("map", "fork", "exec"), (40, 3, 0.2))[0]
        pages, parent = chance.choice((1, 1, 2, 5, 40)), chance.randrange(PROCESSES)
        if what == "fork" and parent == pid:
            continue
        model.apply(what, pid, start, pages, name, parent)
        if what == "map":
            data.append(record(1, 2, struct.pack("<IIQQQ", pid, pid, page_of(start), pages * 0x1000, 0) + name.encode().ljust(16, b"\0")))
        elif what == "fork":
            data.append(record(7, 0, struct.pack("<IIIIQ", pid, parent, pid, parent, 0)))
        else:
            data.append(record(3, 0x2000, struct.pack("<II", pid, pid) + b"new\0\0\0\0\0"))
        for at in (chance.randrange(PAGES), start, (start + pages) % PAGES):
            pid = chance.randrange(PROCESSES)
            data.append(record(9, 2, struct.pack("<QII", page_of(at) + 5, pid, pid)))
            module, page = model.of.get(pid, {}).get(at, ("", 0))
            want[f"{module[5:]}+{hex(page * 0x1000 + 5)}" if module else hex(page_of(at) + 5)] += 1
    with open(path, "wb") as file:
        file.write(small_file(1 | 2, data))
    got = collections.Counter({row.split(" ", 1)[1]: int(row.split(" ", 1)[0]) for row in rows(path, "functions.csv", "samples_excl", "name")})
    check("maps after forks", [(n, got[n], want[n]) for n in sorted(got | want) if got[n] != want[n]][:5], [])
    check("which had something to find", (len(want) > 3000, any("+" in name for name in want)), (True, True))


# So many samples that a thread reads them ahead: stacks that change at their ends, with recursion, while maps change.
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "perf.data")
    chance = random.Random(8)
    KERNEL_CODE, USER_MARK, KERNEL_MARK = 0xffffffff81000000, 2**64 - 512, 2**64 - 128
    model, data, want, stacks = Maps(), [], collections.Counter(), collections.defaultdict(list)
    for step in range(24_000):
        if step % 700 == 0:
            pid, name = chance.randrange(1, 4), f"/opt/m{step}"
            model.apply("map", pid, 3, 9, name)
            data.append(record(1, 2, struct.pack("<IIQQQ", pid, pid, page_of(3), 9 * 0x1000, 0) + name.encode().ljust(16, b"\0")))
        pid = chance.randrange(4)
        tid = pid and pid * 10 + chance.randrange(2)
        stack = stacks[tid]
        del stack[chance.randrange(len(stack) + 1):]
        stack += [page_of(chance.randrange(12)) + chance.randrange(3) for _ in range(chance.randrange(6))]
        kernel = [KERNEL_CODE + chance.randrange(3) for _ in range(chance.choice((0, 0, 0, 2)))]
        chain = [*([KERNEL_MARK, *kernel] if kernel else ()), *([USER_MARK, *reversed(stack)] if stack else ())]
        data.append(record(9, 1 if kernel else 2, struct.pack(f"<QIIQ{len(chain)}Q", 5, pid, tid, len(chain), *chain)))
        names = []
        for at in stack or ([] if kernel else [5]):
            module, page = model.of.get(pid, {}).get((at - page_of(0)) // 0x1000, ("", 0))
            names.append(f"{module[5:]}+{hex(page * 0x1000 + at % 0x1000)}" if module else hex(at))
        want[";".join(names + [f"[kernel.kallsyms]+{hex(at)}" for at in reversed(kernel)])] += 1
    data.insert(len(data) // 2, record(9, 2, struct.pack("<QIIQ", 5, 1, 10, 1 << 60)))
    with open(path, "wb") as file:
        file.write(small_file(1 | 2 | 1 << 5, data))
    text = cat(path, "export/samples.collapsedstack.txt").stdout
    got = collections.Counter({line.rsplit(" ", 1)[0]: int(line.rsplit(" ", 1)[1]) for line in text.splitlines()})
    check("many samples", [(n, got[n], want[n]) for n in sorted(got | want) if got[n] != want[n]][:5], [])
    check("of which one lies", (sum(want.values()), len(rows(path, "damage.csv", "what"))), (24_000, 1))


# Branches are counted by where they come from and go to; what was lost is said.
IP_TID_BRANCHES = 1 | 2 | 1 << 11
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "perf.data")
    prog = record(1, 2, struct.pack("<IIQQQ", 7, 7, 0x400000, 0x1000, 0x2000) + b"/opt/prog\0\0\0\0\0\0\0")
    made = record(1, 2, struct.pack("<IIQQQ", 7, 7, 0x500000, 0x1000, 0) + b"//anon\0\0")
    taken = [(0x400010, 0x400020, 1 | 5 << 4), (0x400010, 0x400020, 2 | 7 << 4), (0x400030, 1 << 63, 0), (0x500010, 0x500020, 0)]
    branch = record(9, 2, struct.pack("<QIIQ", 0x500020, 7, 7, 4) + b"".join(struct.pack("<QQQ", *b) for b in taken))
    lies = record(9, 2, struct.pack("<QIIQ", 0x400020, 7, 7, 1 << 60) + bytes(24))
    with open(path, "wb") as file:
        file.write(small_file(IP_TID_BRANCHES, [prog, made, branch, lies, record(2, 0, struct.pack("<QQ", 1, 12)),
                                                record(13, 0, struct.pack("<Q", 4)), record(5, 0, bytes(24))]))
    check("branches", rows(path, "raw/branches.csv", "from", "to", "count", "mispredicted", "cycles"),
          ["prog+0x2010 prog+0x2020 2 1 12", "prog+0x2030 [kernel.kallsyms]+0x8000000000000000 1 0 0",
           "//anon+0x500010 //anon+0x500020 1 0 0"])
    check("ends are called as frames are", rows(path, "functions.csv", "name"), ["//anon+0x500020"])
    check("maps", rows(path, "raw/maps.csv", "process", "start", "offset", "kind", "file"), ["7 0x400000 0x2000 user /opt/prog", "7 0x500000 0x0 user //anon"])
    check("lost", rows(path, "raw/lost.csv", "count", "kind"), ["12 records lost", "4 samples lost", "1 throttled"])
    check("said", [word in cat(path, "summary.txt").stdout for word in ("lost 12 records", "lost 4 samples", "throttled")], [True] * 3)
    check("attributes", rows(path, "raw/attributes.csv", "period", "sample_type", "event"), ["4000 0x803 cycles"])
    check("a sample that lies", rows(path, "functions.csv", "samples_excl"), ["1"])
    with open(path, "wb") as file:
        file.write(small_file(IP_TID_BRANCHES, [prog, branch], 1 << 11))
    check("open calls are no branches", rows(path, "raw/branches.csv", "from"), [])
    check("which is said", "--call-graph lbr" in cat(path, "summary.txt").stdout, True)
    trace = record(71, 0, struct.pack("<QQQIIII", 24, 0, 0, 0, 0, 0, 0)) + record(9, 2, bytes(16))
    with open(path, "wb") as file:
        file.write(small_file(IP_TID_BRANCHES, [prog, record(11, 0, bytes(24)), trace, record(200, 0, bytes(8)), branch]))
    check("a processor's trace is passed over", rows(path, "functions.csv", "samples_excl"), ["1"])
    check("which is no damage, and said", (rows(path, "damage.csv", "what"), "24 bytes are the processor's own trace" in
                                           " ".join(cat(path, "summary.txt").stdout.split())), ([], True))


# Features of the header.
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "perf.data")
    texts = {3: struct.pack("<I", 8) + b"machine\0", 7: struct.pack("<II", 8, 4), 10: struct.pack("<Q", 2048), 20: bytes(12), 200: b"x"}
    bits = sum(1 << feature for feature in texts).to_bytes(32, "little")
    whole = small_file(IP_TID_BRANCHES, [record(68, 0, b"")])
    at = len(whole) + 16 * len(texts)
    table = b"".join(struct.pack("<QQ", at + sum(len(b) for n, b in texts.items() if n < feature), len(text)) for feature, text in texts.items())
    with open(path, "wb") as file:
        file.write(whole[:0x48] + bits + whole[0x68:] + table + b"".join(texts.values()))
    check("features", rows(path, "raw/features.csv", "feature", "name", "bytes", "value"),
          ["3 host name 12 machine", "7 processors 8 4 online, 8 available", "10 memory 8 2048 kB", "20 caches 12 ", "200  1 "])
    check("facts", [word in cat(path, "info.json").stdout for word in ('"host": "machine"', '"cpus": "4 online')], [True, True])


# Samples without names are those of all events.
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "perf.data")
    IDENTIFIER = 1 << 16
    attrs = [struct.pack("<IIQQQQQQQQ", kind, 80, 0, 1000, IDENTIFIER | 3, 0, 0, 0, 0, 0) + bytes(8) for kind in (0, 1)]
    with open(path, "wb") as file:
        data = prog + b"".join(record(9, 2, struct.pack("<QQII", event, 0x400010, 7, 7)) for event in (5, 6, 6))
        ids = 104 + 2 * 96
        table = b"".join(attr + struct.pack("<QQ", ids + 8 * i, 8) for i, attr in enumerate(attrs))
        file.write(b"PERFILE2" + struct.pack("<8Q", 104, 96, 104, len(table), ids + 16, len(data), 0, 0) + bytes(32) + table +
                   struct.pack("<QQ", 5, 6) + data)
    check("samples of two events", rows(path, "missing-symbols.csv", "samples", "module"), ["3 /opt/prog"])


# Fields of tracepoints, by the descriptions in the file.
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "perf.data")
    fields = (("unsigned short common_type", 0, 2, 0), ("char comm[8]", 8, 8, 0), ("int nice", 16, 4, 1), ("__data_loc char[] file", 20, 4, 0),
              ("u8 mask[2]", 24, 2, 0), ("u64 beyond", 4000, 8, 0))
    described = ("name: made\nID: 77\nformat:\n" + "".join(
        f"\tfield:{what};\toffset:{at};\tsize:{size};\tsigned:{sign};\n" for what, at, size, sign in fields) + "\nprint fmt: \"\"\n").encode()

    def part(data):
        return struct.pack("<Q", len(data)) + data

    tracing = (b"\x17\x08\x44tracing0.6\0\0\x08" + struct.pack("<I", 4096) + b"header_page\0" + part(b"x") + b"header_event\0" + part(b"") +
               struct.pack("<I", 1) + part(b"ftrace") + struct.pack("<I", 1) + b"sched\0" + struct.pack("<I", 1) + part(described))
    raw = struct.pack("<H6x8siI2s6x8s", 77, b"a \"b\"\0", -5, 32 | 6 << 16, b"\x0f\xf0", b"/tmp/x\0")
    traced = record(9, 2, struct.pack("<QIII", 0x400010, 7, 8, len(raw)) + raw + b"\0" * (-(4 + len(raw)) % 8))
    for end in (None, -9):
        attr = struct.pack("<IIQQQQQQQQQ", 2, 80, 77, 1, 3 | 1 << 10, 0, 0, 0, 0, 0, 0)
        cut = tracing[:end]
        with open(path, "wb") as file:
            bits = (1 << 1).to_bytes(32, "little")
            file.write(b"PERFILE2" + struct.pack("<8Q", 104, 96, 104, 96, 200, len(traced), 0, 0) + bits + attr + bytes(16) + traced +
                       struct.pack("<QQ", 216 + len(traced), len(cut)) + cut)
        want = ['7 8 tracepoint 77 {"comm":"a \\"b\\"","nice":-5,"file":"/tmp/x","mask":"0ff0"}'] if end is None else []
        check("fields of tracepoints", rows(path, "raw/events.csv", "process", "thread", "event", "fields"), want)
        check("descriptions that are cut", "end too early" in cat(path, "damage.csv").stdout, end is not None)


# A compressed record that is shorter than its own fields, and says that it holds more than there is.
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "perf.data")
    sample = record(9, 2, struct.pack("<QII", 0x400010, 7, 8))
    frame = b"\x28\xb5\x2f\xfd\x00\x50" + (0x1ffff << 3).to_bytes(3, "little")
    for size, rest in ((8, struct.pack("<Q", 1 << 40) + frame), (8, b""), (15, bytes(7)), (16, struct.pack("<Q", 1 << 40))):
        with open(path, "wb") as file:
            file.write(small_file(3, [sample, struct.pack("<IHH", 83, 0, size) + rest]))
        result = cat(path, "damage.csv")
        check(f"a compressed record of {size} bytes", (result.returncode, f"a record of {size} bytes cannot be" in result.stdout), (0, size < 16))
        check(f"beside a compressed record of {size} bytes", rows(path, "threads.csv", "samples_excl"), ["1"])


def zstd(data):
    """A frame of blocks that are stored as they are."""
    blocks = [data[i:i + 100_000] for i in range(0, len(data), 100_000)]
    heads = [(len(block) << 3 | (i + 1 == len(blocks))).to_bytes(3, "little") for i, block in enumerate(blocks)]
    return b"\x28\xb5\x2f\xfd\x00\x50" + b"".join(map(bytes.__add__, heads, blocks))


# Compressed as a whole, in two frames, and cut.
if "libzstd" in subprocess.run([profmount, "--version"], capture_output=True, text=True, check=False).stdout:
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(sources, "new.perf.data"), "rb") as file:
            whole = file.read()
        path = os.path.join(folder, "perf.data.zst")
        for what, data, damaged in (("two frames", zstd(whole[:700]) + zstd(whole[700:]), False),
                                    ("cut", (zstd(whole[:700]) + zstd(whole[700:]))[:-9], True)):
            with open(path, "wb") as file:
                file.write(data)
            check(f"zstd, {what}", bool(rows(path, "damage.csv", "what")), damaged)
            check(f"zstd, {what}: samples", rows(path, "threads.csv", "samples_excl")[:2], ["3", "1"])
else:
    print("SKIPPED: a file that zstd compressed: the program was built without libzstd")

with tempfile.TemporaryDirectory() as folder:
    with open(os.path.join(sources, "new.perf.data"), "rb") as file:
        whole = file.read()
    for size, refused in ((12, True), (103, True), (150, True), (184, False), (len(whole) - 60, False)):
        path = os.path.join(folder, "perf.data")
        with open(path, "wb") as file:
            file.write(whole[:size])
        result = cat(path, "damage.csv")
        check(f"cut after {size} bytes", (result.returncode != 0, len(result.stdout.splitlines()) > 1), (refused, not refused))
        if refused:
            check(f"one line for {size} bytes", len(result.stderr.splitlines()), 1)

print(f"{failures} failures")
sys.exit(failures > 0)
