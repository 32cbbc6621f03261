#!/usr/bin/env python3
"""Runs the checkers of the corpus, corrected where they contradict the contract.

    run.py CHECK_FOLDER [OPTION OF run_all.py…]

Works on a copy. A correction whose text is not found is an error: the checker has been fixed, so remove the correction.
"""
import os
import shutil
import subprocess
import sys
import tempfile

CORRECTIONS = {
    # The dumps of measurements have addresses, as their files do; a mount has the names that structure files give them.
    "checklib.py": [
        ("class View:\n", "OPTIONS = []\n\n\nclass View:\n"),
        ('command = [profmount, "--extract"', 'command = [profmount, *OPTIONS, "--extract"'),
        ("command = [profmount, source, self.root]", "command = [profmount, *OPTIONS, source, self.root]"),
    ],
    "check_hpcrun.py": [
        ("from checklib import Report,", 'import checklib\nchecklib.OPTIONS += ["-o", "symbols=no"]\nfrom checklib import Report,'),
    ],
    "check_zts.py": [
        # A trace that lies elsewhere than the index says is in no dump either, but in the sums.
        ("    if not extra and dump.traces:", '    if not extra and dump.traces and all(want["tree"] or want.get("refused") for _, want in pairs):'),
    ],
    "check_uniform.py": [
        # The inclusive cost of an edge is that of the outermost calls of the callee, whoever calls: else the edges to a
        # recursive function add up to more than the function (docs/namespace.md).
        ("    _, cost = outermost(s, edge, incl)\n",
         "    cost, stack = collections.defaultdict(list), [(me, frozenset()) for me in s.tops]\n"
         "    while stack:\n"
         "        me, over = stack.pop()\n"
         "        key = edge(me)\n"
         "        own = s.function_key(s.contexts[me]) if is_function(s, s.contexts[me]) else None\n"
         "        if key is not None:\n"
         "            cost[key].append(number(s.contexts[me][incl]) or 0 if own not in over else 0)\n"
         "        stack += [(child, over | {own}) for child in s.children[me]]\n"
         "    cost = {key: math.fsum(values) for key, values in cost.items()}\n"),
    ],
}


def main():
    folder = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory(prefix="profmount-check-") as work:
        copy = os.path.join(work, "check")
        shutil.copytree(folder, copy)
        for name, corrections in CORRECTIONS.items():
            path = os.path.join(copy, name)
            with open(path, encoding="utf-8") as file:
                text = file.read()
            for wrong, right in corrections:
                if text.count(wrong) != 1:
                    sys.exit(f"{name} was changed: a correction in {sys.argv[0]} is not needed, or must follow:\n{wrong}")
                text = text.replace(wrong, right)
            os.chmod(path, 0o644)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        sys.exit(subprocess.run([sys.executable, os.path.join(copy, "run_all.py"), "--corpus",
                                 os.path.join(folder, "..", "corpus"), *sys.argv[2:]], check=False).returncode)


main()
