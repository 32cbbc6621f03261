#!/usr/bin/env python3
"""Runs the fuzz targets, each for a short time, from seeds that the fixture writers make:

    run.py BUILD SECONDS [TARGET…]

BUILD is one as fuzz/meson.build describes. Ends with `N passed, N failed`; what breaks a target stays in the current
directory, as libFuzzer leaves it. With KEEP=FOLDER in the environment the inputs that a target learned stay in
FOLDER/TARGET, and are seeds the next time. Runs repeat each other unless SEED=NUMBER differs: what a change broke must
not depend on luck.
"""
import concurrent.futures
import glob
import gzip
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib

HERE = os.path.dirname(os.path.abspath(__file__))
BUILD, SECONDS = os.path.abspath(sys.argv[1]), int(sys.argv[2])
SOURCES = os.path.join(BUILD, "tests/sources/all")
SAMPLES = os.path.join(BUILD, "tests/sample")
SLOW_UNIT = 60  # seconds that one input may take, under sanitizers and beside others; they are a few kB
FILES = {
    "hpcrun": ("*.hpcrun", "hpcrun/*"),
    "htdump": ("*.htdump",),
    "nytprof": ("*.out", "nytprof/*"),
    "zts_chunks": ("zts*/traces.dat",),  # and payloads
    "zts_meta": ("zts*/meta.db.*", "zts*/qmeta.idx"),
    "zts_texts": ("zts*/text-*",),
}


def payloads(path):
    """The payloads of a store's chunks that are not compressed."""
    with open(path, "rb") as f:
        data, at = f.read(), 16
    while data[at:at + 4] == b"ZCH0":
        size = struct.unpack_from(">I", data, at + 4)[0]
        yield data[at + 16:at + 16 + size]
        at += 16 + size


def lz4_twice(payload):
    """A block of LZ4: the payload, and once more as a match and the last bytes."""
    def length(n):
        return b"" if n < 15 else b"\xff" * ((n - 15) // 255) + bytes([(n - 15) % 255])

    match = len(payload) - 5
    token = min(len(payload), 15) << 4 | min(match - 4, 15)
    return (bytes([token]) + length(len(payload)) + payload + struct.pack("<H", len(payload)) + length(match - 4)
            + b"\x50" + payload[-5:])


def write_lz4(to):
    """Stores of chunks with matches, with and without checksums."""
    for flags in (0x02, 0x12):
        store = b"ZTS0" + struct.pack(">IQ", flags, 0)
        for payload in payloads(os.path.join(SOURCES, "zts-plain/traces.dat")):
            if len(payload) < 16:
                continue
            block = lz4_twice(payload)
            store += b"ZCH0" + struct.pack(">III", len(block), 2 * len(payload), zlib.crc32(block) if flags & 0x10 else 0) + block
        with open(os.path.join(to, f"lz4-{flags:02x}"), "wb") as f:
            f.write(store)


def write_databases(to):
    """The samples, one of them of a program with GPUs, as fuzz_hpctoolkit.c describes."""
    for meta in glob.glob(os.path.join(SAMPLES, "*/meta.db")):
        files = []
        for name in ("meta.db", "profile.db", "cct.db", "trace.db"):
            with open(os.path.join(os.path.dirname(meta), name), "rb") as f:
                files.append(f.read())
        with open(os.path.join(to, os.path.basename(os.path.dirname(meta))), "wb") as f:
            f.write(struct.pack("<III", *map(len, files[:3])) + b"".join(files))


def write_matching(to):
    """Names with what builds make up, modules and files in folders; see fuzz_matching.c."""
    items = (("<0", "foo.isra.0", "/opt/1/bin/app", "/s/one/util.c"), (">1", "foo.constprop.1", "/opt/2/bin/app", "/t/two/util.c"),
             ("<0", "f<int>{lambda(int)#1}::h0123456789abcdef", "lib<deadbeef>.so", "/s/two/util.c"),
             (">2", "f<long>{lambda(int)#2}::hfedcba9876543210", "lib<cafebabe>.so", ""), (">3", "0x7f0012345678", "", "util.c"),
             ("<0", "<thread root>", "", ""), (">2", "application thread", "", ""))
    for flags in range(4):
        with open(os.path.join(to, f"items-{flags}"), "wb") as f:
            f.write(bytes([flags]) + "\n".join("\t".join(item) for item in items).encode())


TAXONOMY = """inputs:
  - &A-f
    metric: A
    scope: function
    formula: $$
    combine: sum
  - &B-e
    metric: "B (sec)"
    scope: execution
roots:
  - name: OCC
    description: "its share"
    variants:
      "":
        formula:
          inclusive:
            standard: {min: [100, [*B-e, -, {"*": [2, *B-e]}]]}
          exclusive: {/: [*A-f, 2]}
  - name: A
    variants:
      Sum:
        formula:
          exclusive: *A-f
    children:
      - name: SUM
        variants:
          Sum:
            formula: sum
"""


def make_seeds(target, to):
    if target == "seam":
        subprocess.run([sys.executable, os.path.join(HERE, "seeds.py"), to, *glob.glob(SOURCES + "/*"),
                        *glob.glob(SAMPLES + "/*/")], check=True)
    if target == "structs":
        shutil.copyfile(os.path.join(HERE, "small.hpcstruct"), os.path.join(to, "small.hpcstruct"))
    if target == "symbols":
        for name, text in (("kernel", "ffffffff81000000 T first\nffffffff81000100 t second\t[ext4]\n"),
                           ("c++", "_ZN3foo3barIiEEvT_"), ("rust", "_RNvC6_123foo3bar")):
            with open(os.path.join(to, name), "w", encoding="utf-8") as f:
                f.write(text)
        for name in ("clang", "compressed", "relative", "dwz", "debug/alternate"):
            shutil.copy(os.path.join(HERE, "../symbols/files", name), to)
        if shutil.which("objcopy"):  # sections .zdebug_*, an older way to compress them
            subprocess.run(["objcopy", "--compress-debug-sections=zlib-gnu", os.path.join(to, "clang"), os.path.join(to, "zdebug")],
                           check=True)
    if target == "readers":
        for reader, names in enumerate((("nodes.cpuprofile", "small.heapprofile", "nested.cpuprofile.gz"),
                                        ("sampled.speedscope.json", "own.speedscope.json", "evented.speedscope.json.gz"),
                                        ("array.json", "devtools.json", "lines.jsonl", "kineto.pt.trace.json.gz"), ("flat.folded", "threads.folded"),
                                        ("callgrind.out", "xdebug.out", "cachegrind.out"),
                                        ("new.perf.data", "big.perf.data", "pipe.perf.data", "perf.script.txt"), ("cpu.pprof", "odd.pb.gz"))):
            for name in names:
                with (gzip.open if name.endswith(".gz") else open)(os.path.join(SOURCES, name), "rb") as f:
                    text = f.read()
                with open(os.path.join(to, name), "wb") as f:
                    f.write(bytes([reader]) + text)
    if target == "formula":
        for n, text in enumerate(("ipc/2 + min(a, b)^-2", "log(8, 2) - strict_floor(sum(1e3, .5, -x))", TAXONOMY)):
            with open(os.path.join(to, f"text-{n}"), "w", encoding="utf-8") as f:
                f.write(text)
    if target == "json":
        for n, text in enumerate((r'{"a":[1,-2.5e3,true,null,NaN],"b":{"c":"\u00e9\ud83d\ude00\\"},}', '[1,2', '{"ph":"X"}\n{"ph":"B"}\n,',
                                  '[[' + ' ' * 60 + r'"\"]"' + '{}' * 40 + ']]', '\ufeff["\x01"]')):
            with open(os.path.join(to, f"text-{n}"), "wb") as f:
                f.write(bytes([n * 7]) + text.encode())
    if target == "matching":
        write_matching(to)
    if target == "windows":
        for n, names in enumerate((b"0-0.999999999s\n999999999ns-1s\n0ns-1000us", b"-\n-1ns\n9223372036854775807ns-\n-18446744073s",
                                   b"0.1ms-\n100us-0.2ms\n.5s-\n-1.s\n1 s-2 s\n1S-2S", b"-".join([b"0" * 40 + b"1ns"] * 2),
                                   b"1.5s-2s\n-\n250ms-300ms", b"0-1ns\n001.500s-\n-1us\n1.0000000000s-2s", b"18446744073709551615ns-\na-b")):
            with open(os.path.join(to, f"names-{n}"), "wb") as f:
                f.write(struct.pack("<Q", 10 ** (10 + n)) + names)
    if target == "hpctoolkit":
        subprocess.run([os.path.join(BUILD, "tests/hpctoolkit/hpctk_seeds"), to], check=True)
        write_databases(to)
    if target == "zts_chunks":
        write_lz4(to)
    if target in ("cbor", "zts_chunks"):
        for n, payload in enumerate(payloads(os.path.join(SOURCES, "zts-plain/traces.dat"))):
            with open(os.path.join(to, f"payload-{n}"), "wb") as f:
                f.write(payload)
    paths = [p for pattern in FILES.get(target, ()) for p in glob.glob(os.path.join(SOURCES, pattern))]
    for path in paths + glob.glob(os.path.join(HERE, "corpus", target, "*")):
        shutil.copyfile(path, os.path.join(to, os.path.relpath(path, "/").replace("/", "_")))
    assert os.listdir(to), f"{target} has no seeds"


def executions(log):
    found = re.findall(r"stat::number_of_executed_units: +(\d+)", log)
    return f"{int(found[-1]):,} executions" if found else log.strip().splitlines()[-1]


def fuzz(name):
    """True if no input failed."""
    with tempfile.TemporaryDirectory(prefix="profmount-fuzz-") as seeds:
        return fuzz_from(seeds, name)


def fuzz_from(seeds, name):
    program = os.path.join(BUILD, "tests/fuzz/fuzz_" + name)
    if not os.access(program, os.X_OK):
        print(name, "FAILED: not built", flush=True)
        return False
    folders = [seeds]
    if "KEEP" in os.environ:
        folders.insert(0, os.path.join(os.environ["KEEP"], name))
        os.makedirs(folders[0], exist_ok=True)
    make_seeds(name, seeds)
    done = subprocess.run([program, f"-max_total_time={SECONDS}", f"-seed={os.environ.get('SEED', 1)}", "-rss_limit_mb=3000", f"-timeout={SLOW_UNIT}",
                           "-print_final_stats=1", *folders], capture_output=True, text=True, errors="replace", check=False)
    good = done.returncode == 0
    print(name, "ok" if good else "FAILED", executions(done.stderr) + ("" if good else "\n" + done.stderr[-4000:]), flush=True)
    return good


def main():
    names = sys.argv[3:] or sorted(os.path.basename(p)[5:-2] for p in glob.glob(HERE + "/fuzz_*.c"))
    names = [n for n in names if n != "main"]
    # Without this UBSan reports and goes on, and the target counts as sound.
    os.environ.setdefault("UBSAN_OPTIONS", "halt_on_error=1:print_stacktrace=1")
    # Each runs one thread.
    with concurrent.futures.ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        failed = len(names) - sum(pool.map(fuzz, names))
    print(f"{len(names) - failed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
