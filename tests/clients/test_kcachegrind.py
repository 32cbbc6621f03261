#!/usr/bin/env python3
"""kcachegrind opens callgrind.out.M without warnings and shows its main function."""
import os
import re
import tempfile

from clients import Source, expect, program, run, skip

kcachegrind = program("kcachegrind", "kcachegrind")
session = program("dbus-run-session", "dbus")
timeout = program("timeout", "coreutils")

with Source("export") as source, tempfile.TemporaryDirectory() as home:
    metric, path = max(source.exports("callgrind.out.", ""), key=lambda e: source.total(e[0])[0])
    with open(path, encoding="utf-8") as file:
        if not re.search(r"^c?fn=\([0-9]+\) main$", file.read(), re.M):
            skip("the source has no main, which is what kcachegrind shows first")
    os.chmod(home, 0o700)
    # It never ends by itself; 124 is what timeout then says.
    said = run(timeout, "10", session, "--", kcachegrind, path, status=124,
               env={**os.environ, "QT_QPA_PLATFORM": "offscreen", "HOME": home, "XDG_RUNTIME_DIR": home})
    expect(not re.search(r'line .*: "', said), said)
    expect(re.search(r'Selected +"main"', said), said)
    print(f"kcachegrind: {metric}: main is selected")
