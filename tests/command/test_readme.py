#!/usr/bin/env python3
"""What README.md and docs/recipes.md show is what a user sees: their commands run in mounts of the samples and print
what the document says.

    test_readme.py PROFMOUNT SAMPLES README RECIPES

So do those of README.txt and recipes.txt of each mount run, as they stand. Where this machine cannot mount, the samples are
extracted. `...` stands for any lines.
"""
import contextlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import can_mount  # noqa: E402

PROFMOUNT, SAMPLES, README, RECIPES = (os.path.abspath(p) for p in sys.argv[1:5])
CLIENTS = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "clients")
# What is mounted where, and the folder that each block of recipes is for.
MOUNTS = {"before": ["heat"], "filters": ["heat"], "formulas": ["-o", "derive=ipc=papi_tot_ins/papi_tot_cyc", "-o", "derive=ghz=papi_tot_cyc/cputime_sec/1e9", "heat"], "steps": ["-o", "iterations=step(grid*)", "heat"], "after": ["heat-even"], "gpu": ["gpu"], "perl": ["nytprof.out"], "shop": ["shop"],
          "both": ["before=heat", "after=heat-even"], "labels": ["../sources/all/cpu.pprof"], "kernels": ["-o", "values=bytes", "../sources/all/kineto.pt.trace.json.gz"],
          "headers": ["a=../sources/all/lines.jsonl", "b=../sources/all/lines.jsonl"], "chrome": ["../sources/all/devtools.json"], "node": ["../sources/all/cpuprofiles"],
          "builds": [f"{name}=../sources/all/builds/{name}-{n}.data" for name in ("before", "after") for n in range(1, 11)],
          "perf": ["../sources/all/builds/before-1.data"],
          "exact": [f"{name}=../sources/all/builds/callgrind.{name}" for name in ("before", "after")]}
BLOCKS = ("before", "formulas", "filters", "steps", "filters", "viewers", "both", "", "gpu", "labels", "kernels", "headers", "node", "chrome", "builds", "perf", "exact", "perl", "shop")
BY_NAME = ("formulas", "steps", "filters", "perf", "chrome")  # their recipes need windows and filters


@contextlib.contextmanager
def mounted():
    """A folder with all samples in it."""
    mounts = not can_mount.why_not()
    with tempfile.TemporaryDirectory(prefix="profmount-readme-") as folder, contextlib.ExitStack() as undo:
        for name, sources in MOUNTS.items():
            point = os.path.join(folder, name)
            os.mkdir(point)
            subprocess.run([PROFMOUNT, *([] if mounts else ["-o", "tsv", "--extract"]), *sources, "--", point], cwd=SAMPLES, check=True)
            if mounts:
                undo.callback(subprocess.run, ["fusermount3", "-u", point], check=True)
        yield folder


def duckdb(folder):
    """A folder for PATH that has duckdb: the shell is in no Debian, its library is one of tests/clients."""
    library = os.path.join(CLIENTS, "node_modules", "@duckdb")
    if not shutil.which("duckdb") and shutil.which("node") and os.path.isdir(library):
        path = os.path.join(folder, "duckdb")
        with open(path, "w", encoding="utf-8") as f:
            f.write(f"#!/bin/sh\nexec node '{CLIENTS}/duckdb.mjs' \"$@\"\n")
        os.chmod(path, 0o755)


def blocks(document):
    """Of each block of code: (command, what it prints)."""
    with open(document, encoding="utf-8") as f:
        text = f.read()
    return [re.findall(r"(?m)^\$ (.*)\n((?:(?!\$ ).+\n)*)", block) for block in text.split("```")[1::2]]


class Readme(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.undo = contextlib.ExitStack()
        cls.folder = cls.undo.enter_context(mounted())
        programs = cls.undo.enter_context(tempfile.TemporaryDirectory())
        duckdb(programs)
        cls.env = {**os.environ, "LC_ALL": "C.UTF-8", "PATH": programs + os.pathsep + os.environ["PATH"]}

    @classmethod
    def tearDownClass(cls):
        cls.undo.close()

    def output(self, command, folder):
        if command.startswith(("duckdb ", "jq ")) and not shutil.which(command.split()[0], path=self.env["PATH"]):
            self.skipTest(f"{command.split()[0]} is not installed")
        done = subprocess.run(["sh", "-c", command], cwd=os.path.join(self.folder, folder), env=self.env, timeout=600,
                              stdin=subprocess.DEVNULL, capture_output=True)
        self.assertEqual((done.returncode, done.stderr), (0, b""), command)
        return done.stdout.decode()

    def compare(self, command, printed, folder):
        with self.subTest(command=command):
            said = self.output(command, folder)
            if command == "ls":  # in as many columns as the terminal has room for
                said, printed = ("\n".join(sorted(text.split())) for text in (said, printed))
            said, printed = ("\n".join(line.rstrip() for line in text.splitlines()) for text in (said, printed))
            self.assertRegex(said, "^" + re.escape(printed).replace(r"\.\.\.", r"[\s\S]*") + "$")

    def test_the_demo_shows_what_is_there(self):
        demos = blocks(README)
        self.assertEqual(len(demos), 2)
        for demo, folder in zip(demos, ("before", "both")):
            self.assertGreater(len(demo), 2)
            for command, printed in demo:
                if not command.startswith(("mkdir ", "cd")):
                    self.compare(command, printed, folder)

    def test_the_demo_can_be_pasted(self):
        """In a checkout, with the build folder of the document; /tmp/… is a folder of this test."""
        if why := can_mount.why_not():
            self.skipTest(why)
        for demo in blocks(README):
            begin, end = demo[0][0], demo[-1][0]
            with tempfile.TemporaryDirectory(prefix="profmount-readme-") as folder:
                os.symlink(os.path.dirname(os.path.dirname(PROFMOUNT)), os.path.join(folder, "build"))
                script = f"{begin} && ls && {end}".replace("/tmp/", folder + "/")
                try:
                    done = subprocess.run(["sh", "-ec", script], cwd=folder, env=self.env, timeout=600,
                                          stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
                finally:
                    for name in os.listdir(folder):
                        if os.path.ismount(os.path.join(folder, name)):
                            subprocess.run([PROFMOUNT, "-u", os.path.join(folder, name)], check=True)
                self.assertEqual((done.returncode, done.stderr), (0, ""), script)
                self.assertIn("README.txt\n", done.stdout)

    def test_commands_without_a_mount_can_be_pasted(self):
        with open(README, encoding="utf-8") as f:
            commands = re.findall(r"(?m)^    (build/fs/profmount --\S+ build/tests/.*)$", f.read())
        self.assertEqual(len(commands), 4)
        with tempfile.TemporaryDirectory(prefix="profmount-readme-") as folder:
            os.symlink(os.path.dirname(os.path.dirname(PROFMOUNT)), os.path.join(folder, "build"))
            for command in commands:
                done = subprocess.run(["sh", "-ec", command.replace("/tmp/", folder + "/")], cwd=folder, env=self.env,
                                      timeout=600, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
                self.assertEqual((done.returncode, done.stderr), (0, ""), command)

    def test_recipes_print_their_answers(self):
        found = blocks(RECIPES)
        self.assertEqual(len(found), len(BLOCKS))
        for folder, block in zip(BLOCKS, found):
            self.assertTrue(block)
            if folder in BY_NAME and can_mount.why_not():
                print("SKIPPED: windows and filters are found by name:", can_mount.why_not())
                continue
            for command, printed in block:
                if folder == "viewers":  # tests/clients has them
                    self.assertTrue(os.path.isfile(os.path.join(self.folder, "before", command.split()[-1])), command)
                else:
                    self.assertTrue(printed, command)
                    self.compare(command, printed, folder)

    def test_commands_of_each_mount_run(self):
        for folder in MOUNTS:
            for name in ("README.txt", "recipes.txt", "windows/README.txt"):
                path = os.path.join(self.folder, folder, name)
                if not os.path.exists(path):
                    continue
                with open(path, encoding="utf-8") as f:
                    commands = re.findall(r"(?m)^ *\$ (.*)$", f.read())
                self.assertTrue(commands, path)
                if can_mount.why_not():
                    print("SKIPPED: filters are found by name:", can_mount.why_not())
                    commands = [c for c in commands if not re.search(r"\b(focus|ignore|hide|from)/", c)]
                for command in commands:
                    with self.subTest(folder=folder, command=command):
                        self.assertTrue(self.output(command, folder), command)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
