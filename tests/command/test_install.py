#!/usr/bin/env python3
"""What `meson install` puts in place, and that it agrees with the program.

    test_install.py BUILD PROFMOUNT SOURCE

Programs that check a file are used where they are there.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

BUILD, PROFMOUNT, SOURCE = (os.path.abspath(p) for p in sys.argv[1:4])

PLACES = {
    "bin": ("profmount", "profmount-open"),
    "sbin": ("mount.profmount",),
    "share/man/man1": ("profmount.1", "profmount-open.1"),
    "share/man/man5": ("profmount.5",),
    "share/man/man8": ("mount.profmount.8",),
    "share/bash-completion/completions": ("profmount",),
    "share/zsh/site-functions": ("_profmount",),
    "share/fish/vendor_completions.d": ("profmount.fish",),
    "share/applications": ("profmount.desktop",),
    "share/mime/packages": ("profmount.xml",),
    "share/doc/profmount": ("README.md", "namespace.md", "errors.md", "remote.md"),
}

# First bytes of a file, and what a file manager should take it for.
MAGICS = {
    b"HPCTOOLKITmeta\x04\x00": "application/x-hpctoolkit-database",
    b"HPCRUN-profile____04.00b": "application/x-hpcrun-profile",
    b"HPCRUN____02.00l": "application/x-hpcrun-profile",
    b"HPCRUN-trace______01.01b": "application/x-hpcrun-trace",
    b"NYTProf 5 0\n": "application/x-nytprof",
    b"ZTS0": "application/x-zts-traces",
}


def run(*args, **more):
    return subprocess.run(args, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600, **more)


def needs(program, package=None):
    return unittest.skipUnless(shutil.which(program),
                               f"{program} is not installed (Debian: apt-get install {package or program})")


class Install(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        done = run("meson", "install", "-C", BUILD, "--no-rebuild", env={**os.environ, "DESTDIR": cls.folder.name})
        assert done.returncode == 0, done.stdout + done.stderr
        program, = (os.path.join(d, "profmount") for d, _, names in os.walk(cls.folder.name)
                    if d.endswith("/bin") and "profmount" in names)
        cls.prefix = os.path.dirname(os.path.dirname(program))

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def path(self, *names):
        return os.path.join(self.prefix, *names)

    def text(self, *names):
        with open(self.path(*names), encoding="utf-8") as f:
            return f.read()

    def test_everything_is_in_its_place(self):
        for folder, names in PLACES.items():
            for name in names:
                self.assertTrue(os.path.isfile(self.path(folder, name)), f"{folder}/{name}")
        for name in ("bin/profmount", "bin/profmount-open", "sbin/mount.profmount"):
            self.assertTrue(os.access(self.path(name), os.X_OK), name)

    def test_options_are_described_and_completed(self):
        usage = run(PROFMOUNT, "-h").stdout
        long = set(re.findall(r"--([a-z]+)", usage))
        mount = set(re.findall(r"(?:-o |,|: )([a-z_]+)(?==|,| {2})", re.sub(r"(?m)^(?!    -o ).*$", "", usage)))
        self.assertLessEqual({"ls", "cat", "extract", "check", "formats", "help", "version"}, long)
        self.assertLessEqual({"format", "cache", "evals", "xattr", "allow_other", "uid", "gid", "auto_unmount"}, mount)
        page = self.text("share/man/man1/profmount.1")
        for word in long:
            self.assertRegex(page, rf"Fl -{word}\b")
        for word in mount:
            self.assertRegex(page, rf"Cm {word}\b")
        for shell in ("bash-completion/completions/profmount", "zsh/site-functions/_profmount",
                      "fish/vendor_completions.d/profmount.fish"):
            for word in long | mount:
                self.assertIn(word, self.text("share", shell), shell)

    @needs("man", "man-db")
    def test_manual_pages_have_no_warnings(self):
        for section, name in (("1", "profmount"), ("1", "profmount-open"), ("5", "profmount"), ("8", "mount.profmount")):
            done = run("man", "--warnings", "-l", self.path(f"share/man/man{section}/{name}.{section}"),
                       env={**os.environ, "MANWIDTH": "80", "LC_ALL": "C.UTF-8"})
            # How well a line is filled depends on the width, and on groff's version.
            said = [line for line in done.stderr.splitlines() if "cannot adjust line" not in line]
            self.assertEqual((done.returncode, said), (0, []), name)

    @needs("bash")
    def test_bash_completes_paths_inside_of_a_profile(self):
        def complete(*words):
            script = (f'. "{self.path("share/bash-completion/completions/profmount")}"\n'
                      'compopt() { :; }; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _profmount\n'
                      'printf "%s\\n" "${COMPREPLY[@]}"')
            return run("bash", "-c", script, "bash", PROFMOUNT, *words).stdout.splitlines()

        self.assertEqual(complete("--cat", SOURCE, "READ"), ["README.txt"])
        self.assertIn("contexts/main thread/", complete("--ls", SOURCE, "contexts/"))
        self.assertEqual(complete("--cat", "a", "=", SOURCE, "b", "=", SOURCE, "--", "compare/b/functions.c"),
                         ["compare/b/functions.csv"])
        self.assertEqual(complete("--cat", SOURCE, SOURCE, "--", "runs."), ["runs.csv"])
        self.assertEqual(complete("-o", "xattr,form"), ["xattr,format="])
        self.assertIn("format=hpctoolkit", complete("-o", "format="))
        self.assertEqual(complete("--ch"), ["--check"])

    @needs("zsh")
    def test_zsh_takes_its_completion(self):
        self.assertEqual(run("zsh", "-n", self.path("share/zsh/site-functions/_profmount")).stderr, "")

    @needs("fish")
    def test_fish_completes_paths_inside_of_a_profile(self):
        script = f'source {self.path("share/fish/vendor_completions.d/profmount.fish")}; complete -C "profmount --cat {SOURCE} READ"'
        with tempfile.TemporaryDirectory() as home:
            done = run("fish", "--no-config", "-c", script,
                       env={**os.environ, "HOME": home, "PATH": os.path.dirname(PROFMOUNT) + ":" + os.environ["PATH"]})
        self.assertIn("README.txt", done.stdout.split())

    @needs("desktop-file-validate", "desktop-file-utils")
    def test_the_desktop_entry_is_valid(self):
        done = run("desktop-file-validate", self.path("share/applications/profmount.desktop"))
        self.assertEqual((done.returncode, done.stdout), (0, ""))

    @needs("gio", "libglib2.0-bin")
    @needs("update-mime-database", "shared-mime-info")
    def test_files_are_known_by_their_first_bytes(self):
        with tempfile.TemporaryDirectory() as folder:
            packages = os.path.join(folder, "data", "mime", "packages")
            shutil.copytree(self.path("share/mime/packages"), packages)
            done = run("update-mime-database", os.path.dirname(packages))
            self.assertEqual(done.returncode, 0, done.stderr)
            handled = re.search(r"^MimeType=(.*)$", self.text("share/applications/profmount.desktop"), re.M).group(1)
            for number, (magic, kind) in enumerate(MAGICS.items()):
                path = os.path.join(folder, f"file{number}")
                with open(path, "wb") as f:
                    f.write(magic + bytes(100))
                done = run("gio", "info", "-a", "standard::content-type", path,
                           env={**os.environ, "XDG_DATA_HOME": os.path.join(folder, "data")})
                self.assertIn(kind + "\n", done.stdout)
                self.assertIn(kind + ";", handled)

    def test_the_helper_of_mount_translates_its_flags(self):
        with tempfile.TemporaryDirectory() as folder:
            helper = os.path.join(folder, "mount.profmount")
            with open(helper, "w", encoding="utf-8") as f:
                f.write(re.sub(r"exec \S+", "printf '<%s>'", self.text("sbin/mount.profmount")))
            for args, want in ((("a b", "/m"), "<-o><><--><a b></m>"),
                               (("a", "/m", "-n", "-v", "-s", "-o", "rw,uid=1", "-t", "profmount"),
                                "<-o><rw,uid=1><--><a></m>"),
                               (("a", "/m", "-f", "-o", "rw"), "")):
                self.assertEqual(run("sh", helper, *args).stdout, want)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
