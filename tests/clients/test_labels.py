#!/usr/bin/env python3
"""Pictures that draw by themselves shorten names as others do: labels.js against the cases of pmfs_name_bare and pmfs_svg_cut.

    test_labels.py PROFMOUNT SOURCE
"""
import json
import os
import re
import subprocess

from clients import HERE, program


def cases(file, members):
    with open(os.path.join(HERE, "../views", file), encoding="utf-8") as text:
        table = re.search(members + r"\n\t\} cases\[\] = \{\n(.*?)\n\t\};", text.read(), re.S).group(1)
    rows = [json.loads("[%s]" % row) for row in re.findall(r'\{("[^"]*",\s*[^{}"]*"[^"]*")\}', table)]
    assert len(rows) == table.count('{"') > 15, table
    return rows


def made(call, rows):
    script = """const script = require("fs").readFileSync(process.argv[1], "utf8"), rows = JSON.parse(process.argv[2]);
console.log(JSON.stringify(rows.map(new Function("column", script + "; return row => %s;")(1))));""" % call
    labels = os.path.join(HERE, "../../fs/views/pictures/assets/labels.js")
    return json.loads(subprocess.run([program("node", "nodejs"), "-e", script, labels, json.dumps(rows)],
                                     check=True, capture_output=True, text=True).stdout)


for call, rows in (("bare(row[0])", cases("test_categories.c", r"const char \*name, \*bare;")),
                   ("fit(row[0], row[1])", cases("test_colours.c", r"const char \*label;"))):
    wrong = [(row, shown) for row, shown in zip(rows, made(call, rows)) if shown != row[-1]]
    assert not wrong, wrong
