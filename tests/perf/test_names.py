"""perf.data: names of the stubs through which functions of other files are called, as objdump and perf have them, and of kernel
modules, which are linked when they are loaded.

    test_names.py PROFMOUNT
"""
import csv
import io
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

profmount = os.path.abspath(sys.argv[1])
failures = 0
IP, TID = 1, 2
KERNEL, USER = 1, 2
PROGRAM = """
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
	return puts(getenv(argv[0]) ? "" : argv[1]) + (int)strtol(argv[1], NULL, argc);
}
"""
MODULE = """
int counter;
__attribute__((section(".init.text"), noinline)) int begin(int x) { return counter += x; }
__attribute__((noinline)) static int inner(int x) { return counter -= x; }
int probe(int x) { return inner(x) + inner(x + counter); }
"""
MODULE_AT, MODULE_PATH = 0xffffffffc0000000, "/lib/modules/6.1.0/extra/module.ko"


def check(what, got, want):
    global failures
    if got != want:
        failures += 1
        print(f"FAILED: {what}\n  {got}\n  {want}")


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def rows(path, column):
    table = run(profmount, "-o", "sysroot=root", "--cat", "perf.data", path)
    return [row[column] for row in csv.DictReader(io.StringIO(table))]


def record(kind, misc, body):
    body += b"\0" * (-len(body) % 8)
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def write(name, mode, start, addresses, identity=b""):
    """A recording: a file is mapped, and each address was sampled once."""
    pid = 7 if mode == USER else 0xffffffff
    data = record(1, mode, struct.pack("<IIQQQ", pid, pid, start, 0x100000, 0) + name.encode() + b"\0")
    if identity:
        data += record(67, mode, b"\xff" * 4 + identity.ljust(24, b"\0") + name.encode() + b"\0")
    data += b"".join(record(9, mode, struct.pack("<QII", start + at, 7, 7)) for at in addresses)
    attr = struct.pack("<IIQQQQQQQQQ", 0, 80, 0, 4000, IP | TID, 0, 0, 0, 0, 0, 0)
    with open("perf.data", "wb") as file:
        file.write(b"PERFILE2" + struct.pack("<8Q", 104, 96, 104, 96, 200, len(data), 0, 0) + bytes(32) + attr + bytes(16) + data)


def section(path, name):
    """Address, place in the file, and size."""
    found = re.search(rf" {re.escape(name)} +\w+ +([0-9a-f]+) ([0-9a-f]+) ([0-9a-f]+)", run("readelf", "-SW", path))
    return [int(n, 16) for n in found.groups()] if found else None


def stubs(*options):
    """Of a program, by place in the file, as objdump names them."""
    os.makedirs("root/opt", exist_ok=True)
    run(compiler, "-O1", *options, "-o", "root/opt/program", "program.c")
    found = {}
    for name in (".plt", ".plt.sec"):
        where = section("root/opt/program", name)
        if where:
            text = run("objdump", "-d", "-j", name, "root/opt/program")
            found.update({int(at, 16) - where[0] + where[1]: stub for at, stub in re.findall(r"^([0-9a-f]+) <(\w+@plt)>:", text, re.M)})
    return found


def check_stubs():
    for options in ([], ["-Wl,-z,lazy"], ["-no-pie"]):
        found = stubs(*options)
        check(f"stubs {options}", {"puts@plt", "strtol@plt", "getenv@plt"} <= set(found.values()), True)
        write("/opt/program", USER, 0x10000000, found)
        check(f"names {options}", sorted(rows("functions.csv", "name")), sorted(found.values()))
    # Stubs have names without symbols; the rest is said to be stripped.
    run("strip", "root/opt/program")
    write("/opt/program", USER, 0x10000000, [*found, section("root/opt/program", ".text")[1]])
    check("stripped", sorted(name for name in rows("functions.csv", "name") if "+0x" not in name), sorted(found.values()))
    check("which is said", ["stripped" in why for why in rows("missing-symbols.csv", "why")], [True])
    # A table with one relocation less than there are stubs names none.
    place, size = section("root/opt/program", ".rela.plt")[1:]
    with open("root/opt/program", "rb") as file:
        whole = file.read()
    header = whole.rindex(struct.pack("<QQ", place, size))
    with open("root/opt/program", "wb") as file:
        file.write(whole[:header + 8] + struct.pack("<Q", size - 24) + whole[header + 16:])
    write("/opt/program", USER, 0x10000000, found)
    check("lies about sizes", [name for name in rows("functions.csv", "name") if "+0x" not in name], [])


def check_module():
    path = "root" + MODULE_PATH
    os.makedirs(os.path.dirname(path))
    run(compiler, "-O1", "-fno-pic", "-fcf-protection=none", "-c", "-o", "module.o", "module.c")
    run("ld", "-r", "--build-id", "-o", path, "module.o")
    identity = bytes.fromhex(re.search(r"Build ID: ([0-9a-f]+)", run("readelf", "-n", path))[1])
    functions = {name: int(at, 16) for at, name in re.findall(r"^([0-9a-f]+) [Tt] (\w+)$", run("nm", path), re.M)}
    text = section(path, ".text")[2]
    write(MODULE_PATH, KERNEL, MODULE_AT, [functions["inner"] + 1, functions["probe"] + 1, text + 0x10], identity)
    check("module", sorted(rows("functions.csv", "name")), ["inner", f"module.ko+{text + 0x10:#x}", "probe"])
    # As distributions install them, and one that is cut.
    libraries = run(profmount, "--version")
    for packer, suffix, library in (("xz", ".xz", "liblzma"), ("zstd", ".zst", "libzstd"), ("gzip", ".gz", "zlib")):
        if not shutil.which(packer) or library not in libraries:
            print(f"SKIPPED: modules in {suffix}: there is no {packer}, or the program was built without {library}")
            continue
        with open(path, "rb") as file, open(path + suffix, "wb") as packed:
            subprocess.run([packer, "-c"], stdin=file, stdout=packed, check=True)
        write(MODULE_PATH + suffix, KERNEL, MODULE_AT, [functions["inner"] + 1, functions["probe"] + 1], identity)
        check("module" + suffix, sorted(rows("functions.csv", "name")), ["inner", "probe"])
        os.truncate(path + suffix, os.path.getsize(path + suffix) * 2 // 3)
        check("cut module" + suffix, rows("functions.csv", "name"), [f"module.ko{suffix}+{functions[name] + 1:#x}" for name in ("inner", "probe")])
        check("which is said", ["no ELF" in why or "not an ELF" in why for why in rows("missing-symbols.csv", "why")], [True])
    write(MODULE_PATH, KERNEL, MODULE_AT, [functions["probe"] + 1], b"another")
    check("another build", rows("functions.csv", "name"), [f"module.ko+{functions['probe'] + 1:#x}"])


compiler = next((c for c in ("cc", "gcc", "clang") if shutil.which(c)), None)
missing = [tool for tool in ("readelf", "objdump", "nm", "strip", "ld") if not shutil.which(tool)]
if not compiler or missing or os.uname().machine != "x86_64":
    print("SKIPPED: there is no compiler for x86-64, or no binutils: install gcc")
    sys.exit(77)
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    for name, text in (("program.c", PROGRAM), ("module.c", MODULE)):
        with open(name, "w", encoding="utf-8") as file:
            file.write(text)
    check_stubs()
    check_module()
    os.chdir("/")
print(f"{failures} failures")
sys.exit(1 if failures else 0)
