#!/usr/bin/env python3
"""The scripts that newcomers run, and the recipes for packagers: they parse, name the same version, and do not fail in
silence. Systems and package managers that are not here are played by scripts of their names.

    test_scripts.py TOP
"""
import os
import py_compile
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

TOP = os.path.abspath(sys.argv[1])
RECIPES = {"profmount.spec": r"(?m)^Version: +(\S+)$", "PKGBUILD": r"(?m)^pkgver=(\S+)$", "conda/meta.yaml": r"(?m)^  version: (\S+)$",
           "spack/package.py": r'(?m)^    version\("(\d[^"]*)"'}


def read(*path):
    with open(os.path.join(TOP, *path), encoding="utf-8") as f:
        return f.read()


class Machine:
    """A copy of tests/ with programs of its own: `programs` are the bodies of scripts by name."""

    def __init__(self, folder, programs, hidden=()):
        self.top, self.bin = os.path.join(folder, "checkout"), os.path.join(folder, "bin")
        os.makedirs(os.path.join(self.top, "tests"))
        os.mkdir(os.path.join(self.top, "build"))  # which was not configured to its end
        os.mkdir(self.bin)
        for name in ("demo", "all", "packages.sh"):
            shutil.copy(os.path.join(TOP, "tests", name), os.path.join(self.top, "tests"))
        for name in ("sh", "dirname", "mktemp", "tail", "rm", "sed", "sort", "head", "id", "grep", "cat"):
            if name not in hidden and name not in programs:
                os.symlink(shutil.which(name), os.path.join(self.bin, name))
        for name, body in programs.items():
            # Never through a link to a program of this system, which root would overwrite.
            with open(os.path.join(self.bin, name), "x", encoding="utf-8") as f:
                f.write("#!/bin/sh\n" + body + "\n")
            os.chmod(os.path.join(self.bin, name), 0o755)

    def run(self, script):
        return subprocess.run(["/bin/sh", os.path.join(self.top, "tests", script)],
                              env={"PATH": self.bin, "HOME": self.top, "DPKG_ADMINDIR": self.top},
                              stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False, timeout=600)


DEBIAN = {"dpkg-query": "echo 'install ok installed'", "apt-get": "true", "ninja": "echo ninja ran; exit 1"}
BARE = {**DEBIAN, "dpkg-query": "exit 1", "id": "echo 0", "env": 'shift; exec "$@"'}


class Scripts(unittest.TestCase):
    def on(self, programs, script, hidden=()):
        with tempfile.TemporaryDirectory(prefix="profmount-test-") as folder:
            return Machine(folder, programs, hidden).run(script)

    def test_they_parse(self):
        for name in ("tests/demo", "tests/all", "tests/packages.sh", "tests/cross.sh", "tests/machines"):
            subprocess.run(["sh", "-n", os.path.join(TOP, name)], check=True)
        for name in ("tests/fresh", ".ci/run", "docs/packaging/release", "docs/packaging/PKGBUILD"):
            if os.path.exists(os.path.join(TOP, name)):  # an archive has no .ci/
                subprocess.run(["bash", "-n", os.path.join(TOP, name)], check=True)
        with tempfile.NamedTemporaryFile(suffix=".pyc") as out:
            py_compile.compile(os.path.join(TOP, "docs/packaging/spack/package.py"), cfile=out.name, doraise=True)

    def test_recipes_have_the_version_of_the_project(self):
        version = re.search(r"(?m)^  version: '([^']+)',$", read("meson.build")).group(1)
        for name, pattern in RECIPES.items():
            self.assertEqual(re.findall(pattern, read("docs/packaging", name)), [version], name)

    def test_other_systems_have_a_line_each(self):
        table = re.search(r'other_systems="([^"]*)"', read("tests/packages.sh")).group(1).splitlines()
        self.assertEqual([line.split(":")[0] for line in table], ["dnf", "zypper", "pacman", "apk", "spack"])
        for line in table:
            program, command = line.split(":", 1)
            self.assertTrue(command.startswith(program + " "), line)
            for what in ("meson", "fuse", "zlib", "deflate", "lz4", "expat", "libseccomp"):
                self.assertIn(what, command, program)

    def test_the_log_of_what_failed_is_shown(self):
        for script in ("demo", "all"):
            done = self.on({**DEBIAN, "meson": "echo the reason; exit 3"}, script)
            self.assertEqual(done.returncode, 3)
            self.assertIn("the reason", done.stderr)
            self.assertRegex(done.stderr, r"meson setup build\S* failed \(exit 3\)")
            self.assertNotIn("ninja ran", done.stdout)
        done = self.on({**BARE, "apt-get": "echo no network; exit 100", "apt-cache": "true"}, "demo")
        self.assertEqual(done.returncode, 1)
        self.assertIn("no network", done.stderr)

    def test_it_is_configured_again_after_packages_were_installed(self):
        for installed in (2, 0):
            with tempfile.TemporaryDirectory(prefix="profmount-test-") as folder:
                machine = Machine(folder, {**DEBIAN, "meson": 'echo "meson $*" >&2; exit 1'})
                for name, time in (("status", installed), ("build/build.ninja", 1)):
                    path = os.path.join(machine.top, name)
                    with open(path, "x", encoding="utf-8"):
                        pass
                    os.utime(path, (time, time))
                done = machine.run("demo")
                self.assertEqual("meson configure build --clearcache" in done.stderr, installed > 1, done.stderr)
                self.assertEqual("ninja ran" in done.stdout, installed < 1, done.stdout)

    def test_versions_are_checked_before_packages_are_installed(self):
        for package, version in (("meson", "0.52.1-1"), ("libfuse3-dev", "3.2.6-1")):
            candidate = f'[ "$2" = {package} ] && echo "  Candidate: {version}" || echo "  Candidate: 9.9"'
            done = self.on({**BARE, "apt-cache": candidate, "apt-get": '[ "$1" = update ] || echo installing >&2'}, "demo")
            self.assertEqual(done.returncode, 1)
            self.assertIn(f"{package} is needed in version", done.stderr)
            self.assertNotIn("installing", done.stderr)

    def test_without_apt_it_says_what_to_install(self):
        for program in ("dnf", "zypper", "pacman", "apk"):
            done = self.on({program: "true"}, "demo")
            self.assertEqual(done.returncode, 1)
            self.assertIn(f"\n    {program} ", done.stderr)
            self.assertEqual(len(re.findall(r"(?m)^    \w+ ", done.stderr)), 2, done.stderr)  # and Spack's


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
