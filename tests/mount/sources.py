"""Sources of a few pages to some MB, of each format, made by the makers of tests/bench."""
import os
import subprocess

MAKERS = {
    "hpctoolkit": ("make_hpctoolkit", ["database", 300, 4, 200, 500]),
    "hpcrun": ("make_hpcrun", ["measurements", 4, 300, 500]),
    "nytprof": ("make_nytprof", ["nytprof.out", 1, 0]),
    "nytprof deflated": ("make_nytprof", ["nytprof.out", 1, 6]),
    "zts": ("make_zts", ["store", 1]),
    "htdump": ("make_htdump", ["stream.htdump", 3000]),
    "perf": ("make_recording", ["perf.data", "perf", 2]),
}


def make(makers, name, folder):
    """Makes a source of that name in the folder, and returns its path. `makers`: build/tests/bench."""
    program, (path, *numbers) = MAKERS[name]
    path = os.path.join(folder, path)
    subprocess.run([os.path.join(makers, program), path, *map(str, numbers)], check=True, stdout=subprocess.DEVNULL)
    return path
