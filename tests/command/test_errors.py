#!/usr/bin/env python3
"""Each message of docs/errors.md is provoked, and says what stands there.

    test_errors.py PROFMOUNT SOURCE DOCUMENT

SOURCE is the bundled sample, an HPCToolkit database. A case is a function that makes what it needs in a scratch folder
and gives the command line.
"""
import functools
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import can_mount  # noqa: E402

PROFMOUNT, SOURCE, DOCUMENT = (os.path.abspath(p) for p in sys.argv[1:4])
CASES = {}
USAGE, REFUSED = 2, 1


def case(message, status=REFUSED, lacks=lambda: None):
    """A case of a message; lacks() says what this machine lacks for it, if anything."""
    def add(function):
        CASES.setdefault(message, []).append((function, status, lacks))
        return function
    return add


def usage(message, *words):
    case(message, USAGE)(lambda folder: words)


def file_with(message, data, name="file", *options):
    """A source that is one file with these bytes."""
    def make(folder):
        path = os.path.join(folder, name)
        with open(path, "wb") as f:
            f.write(data)
        return *options, "--ls", path
    case(message)(make)


def database_with(message, change):
    """A copy of the sample, changed."""
    def make(folder):
        path = os.path.join(folder, "database")
        shutil.copytree(SOURCE, path)
        change(path)
        return "--ls", path
    case(message)(make)


def patched(name, offset, data):
    def change(path):
        with open(os.path.join(path, name), "r+b") as f:
            f.seek(offset)
            f.write(data)
    return change


# A /dev/fuse with a mode of its own, as udev would make it: containers often have one that only root may open.
GIVE_DEVICE = ("mount -t tmpfs -o dev,mode=755 none /mnt && mknod -m {mode} /mnt/fuse c 10 229 && "
               "mount --bind /mnt/fuse /dev/fuse")


@functools.cache
def lacks_root():
    """Why this user cannot prepare a system for another one."""
    if os.getuid() != 0:
        return "needs root"
    done = subprocess.run(["unshare", "--mount", "setpriv", "sh", "-c", GIVE_DEVICE.format(mode=666)], capture_output=True,
                          check=False, text=True)
    return can_mount.why_not() or (done.stderr.strip() if done.returncode else None)


usage("SOURCE and MOUNTPOINT are expected (see -h)", "one")
usage("<path>: the mountpoint comes last and is a directory (see -h)", "one", "two", "/nonexistent/point")
usage("--ls takes SOURCE and perhaps a PATH (see -h)", "--ls")
usage("--cat takes SOURCE and PATHs (see -h)", "--cat", "source")
usage("--extract takes SOURCE, DIR and perhaps PATHs (see -h)", "--extract", "source")
for mode in ("--ls", "--cat", "--extract"):
    usage("<path>: several sources end with `--`, then come PATHs (see -h)", mode, f"a={SOURCE}", f"b={SOURCE}", "out")
usage("--check takes SOURCE (see -h)", "--check")
usage("--formats takes nothing (see -h)", "--formats", "zts")
usage("-u takes MOUNTPOINT (see -h)", "-u")
usage("-u takes MOUNTPOINT (see -h)", "--unmount", "/tmp", "/var")
usage("<option>: no such option (see -h)", "--nosuch", "source", "point")
usage("<option>: no such option (see -h)", "-x", "source", "point")
usage("-o <option>: no such option (see -h)", "-o", "nosuch=1", "source", "point")
usage("-o: an argument is missing (see -h)", "source", "point", "-o")
for size in ("x", "", "-1", "1T", "99999999999G"):
    usage("-o cache=<text>: a number of bytes is expected, like 512M", "-o", "cache=" + size, "source", "point")
    usage("-o max=<text>: a number of bytes is expected, like 512M", "-o", "max=" + size, "source", "point")
    usage("-o memory=<text>: a number of bytes is expected, like 512M", "-o", "memory=" + size, "source", "point")
usage("-o memory: at least <number> MiB are needed", "-o", "memory=1M", "source", "point")
for time in ("x", "", "-1", "0", "1w", "1hh"):
    usage("-o idle=<text>: a time is expected, like 30m (s, m, h, d)", "-o", "idle=" + time, "source", "point")
for number in ("ada", "", "-1", "4294967295", "1x"):
    usage("-o uid=<text>: a number is expected, like uid=1000", "-o", "uid=" + number, "source", "point")
usage("-o gid=<text>: a number is expected, like gid=1000", "-o", "gid=users", "source", "point")
for kind in ("", "sideways", "Weak"):
    usage("-o scaling=<text>: strong or weak is expected", "-o", "scaling=" + kind, "source", "point")

case("-o base=<name>: no run has that name")(lambda folder: ("-o", "base=nosuch", "--ls", SOURCE, SOURCE, "--"))
case("-o follow takes one source, which is not a folder of sources")(lambda folder: ("-o", "follow", SOURCE, SOURCE, folder))
case("<path>: -o iterations: nothing is called <name> (see functions.csv)")(
    lambda folder: ("-o", "iterations=nosuch", "--cat", SOURCE, "iterations.csv"))
case("<path>: no source can be opened; the first: <reason>", USAGE)(
    lambda folder: ("--check", os.path.join(folder, "a"), os.path.join(folder, "b")))
file_with("<path>: is not a profile of a known format (see --formats)", b"a letter\n" * 99)
for text in ('[{"ph": "X", "name": "f", "ts": 0, "dur": 1}]', '{"nodes": [{"id": 1, "callFrame": {"functionName": "f"}}], "samples": [1]}', '{"$schema": "https://www.speedscope.app/file-format-schema.json"}'):
    for order in ("utf-16-le", "utf-16-be"):
        file_with("<path>: is JSON in UTF-16, which is not read: convert it to UTF-8 (iconv -f UTF-16 -t UTF-8)", ("\ufeff" + text).encode(order))
file_with("<path>: is a recording of Java Flight Recorder; jfrconv -o pprof converts it", b"FLR\0\0\2\0\1")
for name in ("file", "a.hpcrun", "nytprof.out", "traces.dat", "a.htdump"):
    file_with("<path>: is empty: the run ended before anything was written", b"", name)
for name in ("hpctoolkit", "hpcrun", "nytprof", "zts", "htdump"):
    file_with("<path>: is empty: the run ended before anything was written", b"", "file", "-o", "format=" + name)
file_with("<path>: is not an hpcrun profile: HPCRUN-profile____ or HPCRUN____02.00 expected here", b"a letter\n" * 99, "a.hpcrun")
file_with("<path>: -o iterations takes a source that says when calls or samples were",
          b"NYTProf 5 0\n:ticks_per_sec=10000000\n", "nytprof.out", "-o", "iterations=main")
file_with("<path>: is an hpcrun profile of an unknown version (supported: 01.98 to 04.00)",
          b"HPCRUN-profile____05.00b", "a.hpcrun")
file_with("<path>: is a trace of an unknown version (supported: 01.00b, 01.01b)", b"HPCRUN-trace______09.01b")
file_with("<path>: is not an hpcrun trace: begins with neither HPCRUN-trace______ nor a timestamp", b"HPCRUN-trace____", "a.hpctrace")
file_with("<path>: the file ends within its header: 8 bytes of flags expected here", b"HPCRUN-trace______01.01b")
file_with("<path>: the first line is not a complete header: NYTProf MAJOR MINOR expected", b"NYTProf 5")
file_with("<path>: is a profile of version 6, a different format; versions 4 and 5 are supported", b"NYTPROF6....")
file_with("<path>: has the binary header of an early Pynytprof; only text headers are supported", b"NYTPROF\0....")
file_with("<path>: is a profile of version <n>; versions 4 and 5 are supported", b"NYTProf 3 0\n")
file_with("<path>: the data after the header is neither NYTProf records nor Pynytprof chunks", b"NYTProf 5 0\n\377\377")
file_with("<path>: <file>: contains neither a ZTS0 header nor a chunk", b"letters", "traces.dat", "-o", "format=zts")
file_with("<path>: contains no readable event; a HawkTracer stream with class descriptions was expected", b"a letter\n",
          "file", "-o", "format=htdump")

database_with("<path>: <file>: is not a regular file",
              lambda path: (os.unlink(path + "/profile.db"), os.mkfifo(path + "/profile.db")))
database_with("<path>: <file>: cannot be opened: <reason>",
              lambda path: (os.unlink(path + "/profile.db"), os.symlink("profile.db", path + "/profile.db")))
database_with("<path>: <file>: is missing; a database cannot be read without it", lambda path: os.unlink(path + "/profile.db"))
database_with("<path>: <file>: has <n> bytes, which is too short for its header",
              lambda path: os.truncate(path + "/meta.db", 20))
database_with("<path>: <file>: does not begin with <mark>", patched("profile.db", 0, b"xx"))
database_with("<path>: <file>: is version <n>, only 4 is supported", patched("meta.db", 14, b"\5"))
database_with("<path>: <file>: its header does not point to metrics of a known layout", patched("meta.db", 16, bytes(200)))

case("<path>: no metric is named <name>: there are <names>")(lambda folder: ("-o", "metric=nosuch", "--ls", SOURCE))
case("<path>: no metric is named <name>: there are <names>", USAGE)(lambda folder: ("-o", "metric=x", "--check", SOURCE))


@case("<path>: <file>: belongs to a database older than version 4 (HPCPROF-), which is not supported")
def old_database(folder):
    with open(os.path.join(folder, "profile.db"), "wb") as f:
        f.write(b"HPCPROF-profdb__" + bytes(100))
    return "--ls", folder


@case("<path>: contains no readable hpcrun profile or trace")
def empty_measurement(folder):
    with open(os.path.join(folder, "a-000000-000-01-1-0.hpcrun"), "wb"):
        return "--ls", folder


@case("<path>: is not one run: <name> and <name> are not parts of the same; give one of them, or several to compare them")
def two_runs(folder):
    for name in ("one.out", "two.out"):
        with open(os.path.join(folder, name), "wb") as f:
            f.write(b"NYTProf 5 0\n:basetime=1\n")
    return "-o", "format=nytprof", "--ls", folder


def empty_folder(message, *options):
    case(message)(lambda folder: (*options, "--ls", folder))


empty_folder("<path>: contains no profile of a known format (see --formats)")
empty_folder("<path>: contains no measurement files (*.hpcrun, *.hpctrace)", "-o", "format=hpcrun")
empty_folder("<path>: contains no profile of format <name>", "-o", "format=nytprof")
empty_folder("<path>: <file>: not found, nor in folders 000000, 000001 …", "-o", "format=zts")
empty_folder("<path>: no format is named <name> (see --formats)", "-o", "format=nosuch")


@case("<path>: contains no profile of a known format; <file> cannot be opened: <reason>")
def not_ours(folder):
    program, runs = os.path.join(folder, "profmount"), os.path.join(folder, "runs")
    shutil.copy(PROFMOUNT, program)
    os.mkdir(runs)
    with open(os.path.join(runs, "a.out"), "wb") as f:
        f.write(b"NYTProf 5 0\n")
        os.fchmod(f.fileno(), 0)
    os.chmod(folder, 0o755)
    as_nobody = "setpriv --reuid 65534 --regid 65534 --clear-groups" if os.getuid() == 0 else ""
    return "sh", "-c", f"exec {as_nobody} '{program}' --ls '{runs}'"


case("<path>: is neither a regular file nor a directory")(lambda folder: ("--ls", "/dev/zero"))
case("<path>: cannot be opened: <reason>")(lambda folder: ("--ls", os.path.join(folder, "nosuch")))
case("<path>: cannot be opened: <reason>", USAGE)(lambda folder: ("--check", os.path.join(folder, "nosuch")))

case("<path>: cannot be used as mountpoint: <reason>")(lambda folder: (SOURCE, os.path.join(folder, "nosuch")))
case("<path>: is not a mount of profmount")(lambda folder: ("-u", folder))
case("<path>: cannot be unmounted: <reason>")(lambda folder: ("-u", os.path.join(folder, "nosuch")))
case("<path>: cannot be used as mountpoint: it is not a directory")(lambda folder: (SOURCE, "/etc/passwd"))


@case("<path>: is in use: something is mounted there already", lacks=can_mount.why_not)
def mounted_twice(folder):
    subprocess.run([PROFMOUNT, SOURCE, folder], check=True)
    return SOURCE, folder


@case("<path>: is the mount of a process that died; free it with: profmount -u <path>", lacks=can_mount.why_not)
def dead_mount(folder):
    process = subprocess.Popen([PROFMOUNT, "-f", SOURCE, folder])
    while not os.path.ismount(folder) and process.poll() is None:
        pass
    process.kill()
    process.wait()
    return SOURCE, folder


@case("fuse: device not found, try 'modprobe fuse' first", lacks=lacks_root)
def no_device(folder):
    return "unshare", "--mount", "sh", "-c", f"mount -t tmpfs none /dev && '{PROFMOUNT}' '{SOURCE}' '{folder}'"


def as_user(folder, prepare, *options, owner=65534, mode=666):
    """A mount by nobody on a folder of this user, after root prepared the system."""
    program, point = os.path.join(folder, "profmount"), os.path.join(folder, "point")
    shutil.copy(PROFMOUNT, program)
    shutil.copytree(SOURCE, os.path.join(folder, "source"))
    os.mkdir(point)
    os.chmod(folder, 0o755)
    os.chown(point, owner, owner)
    return ("unshare", "--mount", "sh", "-c",
            f"POINT='{point}'; {GIVE_DEVICE.format(mode=mode)} && {prepare} && exec setpriv --reuid 65534 --regid 65534 --clear-groups "
            f"'{program}' {' '.join(options)} '{folder}/source' '{point}'")


def lacks_mtab():
    return lacks_root() or (None if os.path.exists("/etc/mtab") else "there is no /etc/mtab, in which fusermount3 counts mounts")


def as_user_with(message, *how, lacks=lacks_root, **more):
    case(message, lacks=lacks)(lambda folder: as_user(folder, *how, **more))


as_user_with("fusermount3: option allow_other only allowed if 'user_allow_other' is set in /etc/fuse.conf",
             "mount --bind /dev/null /etc/fuse.conf", "-o", "allow_other")
as_user_with("fusermount3: user has no write access to mountpoint <path>", "true", owner=0)
as_user_with("fusermount3: too many FUSE filesystems mounted; mount_max=<n> can be set in /etc/fuse.conf",
             "echo mount_max=0 >/mnt/conf && mount --bind /mnt/conf /etc/fuse.conf", lacks=lacks_mtab)
# Huge pages are none of the file systems that it knows, and the only such one that is given to a user so simply.
as_user_with("fusermount3: mounting over filesystem type <n> is forbidden",
             "mount -t hugetlbfs -o uid=65534,mode=755 none \"$POINT\"")
as_user_with("fuse: failed to open /dev/fuse: <reason>", "true", mode=600)
as_user_with("fuse: failed to exec fusermount3: <reason>", "mount --bind /dev/null \"$(command -v fusermount3)\"")
case("fusermount3: mount failed: <reason>", lacks=lacks_root)(
    lambda folder: ("sh", "-c", "exec setpriv --bounding-set -sys_admin --inh-caps -sys_admin "
                                f"'{PROFMOUNT}' '{SOURCE}' '{folder}'"))


def path_of(message, *words):
    case(message)(lambda folder: words)


path_of("<path>: No such file or directory", "--ls", SOURCE, "nosuch")
path_of("<path>: No such file or directory", "--cat", SOURCE, "contexts/nosuch")
path_of("<path>: Not a directory", "--ls", SOURCE, "README.txt/x")
path_of("<path>: Is a directory", "--cat", SOURCE, "contexts")
path_of("<path>: cannot be used: <reason>", "--extract", SOURCE, "/etc/passwd")
path_of("<path>: is the source: what is extracted would be among its files", "--extract", SOURCE, SOURCE)
path_of("<path>: cannot be written: <reason>", "sh", "-c", f"'{PROFMOUNT}' --cat '{SOURCE}' info.json >/dev/full")


@case("<path>: cannot be created: <reason>")
def file_over_folder(folder):
    os.mkdir(os.path.join(folder, "info.json"))
    return "--extract", SOURCE, folder, "info.json"


@case("<path>: cannot be opened: <reason>")
def folder_over_link(folder):
    os.symlink("/tmp", os.path.join(folder, "by-id"))
    return "--extract", SOURCE, folder, "by-id"


def messages():
    """The first column of each table but the last, which is about errno values."""
    with open(DOCUMENT, encoding="utf-8") as f:
        text = f.read().split("## While mounted")[0]
    return set(re.findall(r"^\| `(.+?)` \|", text, re.M))


class Errors(unittest.TestCase):
    # A source that is written just then, links, and a deep tree: tests/mount, where there are links, tests/views. A
    # million calls take longer than all other cases. Builds without libfuse: docs/packaging/release.
    ELSEWHERE = {"<path>: has changed since it was opened, or cannot be read", "<path>: cannot be linked: <reason>",
                 "<path>: would have more than <bytes> bytes",
                 "<path>: -o iterations: there are more than 1048576 iterations",
                 "this build cannot mount (-Dfuse=disabled); --ls, --cat, --extract and --check work without (see -h)"}

    def test_document_and_cases_name_the_same_messages(self):
        self.assertEqual(messages(), set(CASES) | self.ELSEWHERE)

    def provoke(self, message, make, status):
        pattern = "(profmount: )?" + re.sub(r"<[a-z]+>", ".*", re.sub(r"([][.*+?()^$|\\{}])", r"\\\1", message))
        with tempfile.TemporaryDirectory(prefix="profmount-errors-") as folder:
            words = make(folder)
            program = () if words[0] in ("sh", "unshare") else (PROFMOUNT,)
            try:
                done = subprocess.run([*program, *words], stdin=subprocess.DEVNULL, capture_output=True, timeout=600)
            finally:
                if os.path.ismount(folder) or not os.path.exists(folder):
                    subprocess.run(["fusermount3", "-u", folder], check=True)
            # Of a bare root file system.
            said = done.stderr.decode().replace("fusermount3: failed to open /etc/mtab: No such file or directory\n", "")
            if said.startswith("profmount: this build cannot mount") and "PROFMOUNT_CANNOT_MOUNT" in os.environ:
                self.skipTest(os.environ["PROFMOUNT_CANNOT_MOUNT"])
            self.assertRegex(said, f"^{pattern}\n$")
            self.assertEqual(done.returncode, status)

    def test_each_message_is_provoked(self):
        for message, cases in CASES.items():
            for make, status, lacks in cases:
                with self.subTest(message=message):
                    if why := lacks():
                        self.skipTest(why)
                    self.provoke(message, make, status)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
