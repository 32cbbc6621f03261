"""perf.data: copies of user stacks (--call-graph dwarf), processors that idle, and names from perf's copies in ~/.debug.

    test_stacks.py PROFMOUNT STACK
"""
import csv
import io
import os
import shutil
import struct
import subprocess
import sys
import tempfile

profmount, stack_program = sys.argv[1:]
failures = 0
CALLS = ["main", "outer", "outer", "outer", "middle", "inner"]
IP, TID, TIME, CALLCHAIN, REGISTERS, STACK = 1, 2, 4, 1 << 5, 1 << 12, 1 << 13
X86 = sum(1 << i for i in [*range(12), *range(16, 24)])


def check(what, got, want):
    global failures
    if got != want:
        failures += 1
        print(f"FAILED: {what}\n  {got}\n  {want}")


def cat(source, path, *options, **environment):
    return subprocess.run([profmount, *options, "--cat", source, path], capture_output=True, text=True, check=False,
                          env={**os.environ, **environment}).stdout


def rows(*arguments, **environment):
    return list(csv.DictReader(io.StringIO(cat(*arguments, **environment))))


def record(kind, misc, body):
    body += b"\0" * (-len(body) % 8)
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def mapped(pid, start, length, offset, name, mode=2):
    return record(1, mode, struct.pack("<IIQQQ", pid, pid, start, length, offset) + name.encode() + b"\0")


def build_id(name, identity, mode=2):
    return record(67, mode, b"\xff" * 4 + identity.ljust(24, b"\0") + name.encode() + b"\0")


def write(path, sample_type, records, registers=0):
    """A file with one event, cpu-clock, and these records."""
    data = b"".join(records)
    attr = struct.pack("<IIQQQQQQQQQQI", 1, 96, 0, 1000, sample_type, 0, 0, 0, 0, 0, 0, registers, 4096)
    attr = attr.ljust(96, b"\0")
    with open(path, "wb") as file:
        file.write(b"PERFILE2" + struct.pack("<8Q", 104, 112, 104, 112, 216, len(data), 0, 0) + bytes(32) + attr + bytes(16) + data)


def paths(table):
    """The functions from the root to each context with samples of its own."""
    by_id = {row["context_id"]: row for row in table}
    found = []
    for row in table:
        if row["samples_excl"] == "0":
            continue
        path = []
        while row:
            if row["kind"] not in ("line", "inlined"):
                path.insert(0, row["name"])
            row = by_id.get(row["parent_id"])
        found.append(path)
    return found


def stacks(folder):
    said = subprocess.run([stack_program], capture_output=True, text=True, check=True).stdout.splitlines()
    start, length, offset, program = next(line for line in said if line.startswith("map ")).split()[1:]
    registers = [int(r, 16) for r in next(line for line in said if line.startswith("registers ")).split()[1:]]
    copy = bytes.fromhex(next(line for line in said if line.startswith("stack ")).split()[1])
    mask, pc = (X86, registers[8]) if "x86_64" in said else ((1 << 33) - 1, registers[32])
    path = os.path.join(folder, "perf.data")

    def record_of(copy, chain=()):
        chosen = [r for i, r in enumerate(registers) if mask >> i & 1]
        return record(9, 2, struct.pack("<QIIQ", pc, 7, 7, len(chain)) + struct.pack(f"<{len(chain)}Q", *chain) +
                      struct.pack(f"<Q{len(chosen)}Q", 2, *chosen) + struct.pack("<Q", len(copy)) + copy + struct.pack("<Q", len(copy)))

    def written(*records, identity=None):
        known = [build_id(program, identity)] if identity else []
        write(path, IP | TID | CALLCHAIN | REGISTERS | STACK,
              [*known, mapped(7, int(start, 16), int(length, 16), int(offset, 16), program), *records], mask)
        return path

    here = "-o", "sysroot=/"
    written(record_of(copy))
    found = paths(rows(path, "contexts.csv", *here))
    check("a stack", [path[-len(CALLS):] for path in found], [CALLS])
    names = sorted((row["name"], row["samples_incl"]) for row in rows(path, "functions.csv", *here) if row["name"] in CALLS)
    check("inclusive", names, [("inner", "1"), ("main", "1"), ("middle", "1"), ("outer", "1")])
    written(record_of(copy[:96]))
    found = paths(rows(path, "contexts.csv", *here))
    check("a copy that is too short", [path[-1:] + [len(path) < len(CALLS)] for path in found], [["inner", True]])
    check("which is said", "1 stacks are deeper than the copy" in cat(path, "remarks.txt", *here) + cat(path, "summary.txt", *here), True)
    written(record_of(bytes(len(copy))))
    check("a stack of zeros", [path[-1] for path in paths(rows(path, "contexts.csv", *here))], ["inner"])
    user = (1 << 64) - 512
    written(record_of(copy, (user, pc)))
    check("a call chain goes before the copy", paths(rows(path, "contexts.csv", *here)), [["inner"]])
    written(record_of(copy), identity=bytes(range(20)))
    found = paths(rows(path, "contexts.csv", *here))
    check("of another build", [len(path) for path in found], [1])
    check("its reason", "of which no file is here" in " ".join(cat(path, "summary.txt", *here).split()), True)
    check("not looked for", [len(path) for path in paths(rows(path, "contexts.csv", "-o", "symbols=no"))], [1])


def kernels(folder):
    """Thread 0 idles, but not in interrupts; names of the kernel come from a copy of perf's."""
    identity, top = bytes(range(20)), 0xffffffff81000000
    copies = os.path.join(folder, ".debug", ".build-id", "00", identity[1:].hex())
    os.makedirs(copies)
    table = [(0x100, "do_idle"), (0x200, "cpuidle_enter"), (0x300, "sysvec_apic_timer_interrupt"), (0x400, "handle_work"), (0x500, "end")]
    with open(os.path.join(copies, "kallsyms"), "w", encoding="utf-8") as file:
        file.writelines(f"{top + at:x} T {name}\n" for at, name in table)
    path = os.path.join(folder, "idle.data")

    def sample(pid, *frames):
        chain = [(1 << 64) - 128] + [top + at for at in frames]
        return record(9, 1, struct.pack("<QIIQ", chain[1], pid, pid, len(chain)) + struct.pack(f"<{len(chain)}Q", *chain))

    write(path, IP | TID | CALLCHAIN, [
        mapped(0xffffffff, top, 0x100000, 0, "[kernel.kallsyms]_text", 1), build_id("[kernel.kallsyms]", identity, 1),
        sample(0, 0x210, 0x110), sample(0, 0x210, 0x110), sample(0, 0x410, 0x310, 0x210, 0x110), sample(9, 0x210, 0x110)])
    categories = {row["category"]: row["samples_excl"] for row in rows(path, "categories.csv", HOME=folder)}
    check("idle", categories.get("idle"), "2")
    check("names", sorted(row["name"] for row in rows(path, "functions.csv", HOME=folder)),
          ["cpuidle_enter", "do_idle", "handle_work", "sysvec_apic_timer_interrupt"])
    categories = {row["category"]: row["samples_excl"] for row in rows(path, "categories.csv", HOME="/nowhere")}
    check("idle without names", categories.get("idle"), "3")
    check("which is said", "3 samples of swapper" in cat(path, "summary.txt", HOME="/nowhere"), True)


with tempfile.TemporaryDirectory() as folder:
    kernels(folder)
    machine = subprocess.run([stack_program], capture_output=True, text=True, check=True).stdout
    version = subprocess.run([profmount, "--version"], capture_output=True, text=True, check=False).stdout
    if "registers" not in machine:
        print("SKIPPED: stacks: this machine is not x86-64 or arm64")
    elif "libdw" not in version.split("built without:", maxsplit=1)[0]:
        print("SKIPPED: stacks: the program was built without libdw")
    else:
        stacks(folder)
print(f"{failures} failures")
sys.exit(failures > 0)
