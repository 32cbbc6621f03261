#!/usr/bin/env python3
"""Pictures that draw by themselves shorten names as others do: bare() of labels.js against the cases of pmfs_name_bare.

    test_labels.py PROFMOUNT SOURCE
"""
import json
import os
import re
import subprocess

from clients import HERE, program

with open(os.path.join(HERE, "../views/test_categories.c"), encoding="utf-8") as file:
    cases = re.search(r"const char \*name, \*bare;\n\t\} cases\[\] = \{\n(.*?)\n\t\};", file.read(), re.S).group(1)
pairs = [tuple(map(json.loads, pair)) for pair in re.findall(r'\{("[^"]*"),\s*("[^"]*")\}', cases)]
assert len(pairs) == cases.count('{"') > 20, cases
SCRIPT = """const script = require("fs").readFileSync(process.argv[1], "utf8"), names = JSON.parse(process.argv[2]);
console.log(JSON.stringify(names.map(new Function(script + "; return bare;")())));"""
labels = os.path.join(HERE, "../../fs/views/pictures/assets/labels.js")
done = subprocess.run([program("node", "nodejs"), "-e", SCRIPT, labels, json.dumps([name for name, _ in pairs])],
                      check=True, capture_output=True, text=True)
wrong = [(name, bare, made) for (name, bare), made in zip(pairs, json.loads(done.stdout)) if made != bare]
assert not wrong, wrong
