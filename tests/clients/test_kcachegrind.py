#!/usr/bin/env python3
"""kcachegrind opens callgrind.out.M without warnings and shows its main function."""
import contextlib
import os
import re
import signal
import subprocess
import tempfile

from clients import Source, expect, program, skip

kcachegrind = program("kcachegrind", "kcachegrind")
session = program("dbus-run-session", "dbus")
timeout = program("timeout", "coreutils")

with Source("export") as source, tempfile.TemporaryDirectory() as home:
    metric, path = max(source.exports("callgrind.out.", ""), key=lambda e: source.total(e[0])[0])
    with open(path, encoding="utf-8") as file:
        if not re.search(r"^c?fn=\([0-9]+\) main$", file.read(), re.M):
            skip("the source has no main, which is what kcachegrind shows first")
    os.chmod(home, 0o700)
    # It never ends by itself: what it has to say about the file stands before what it shows.
    viewer = subprocess.Popen([timeout, "300", session, "--", kcachegrind, path], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True,
                              env={**os.environ, "QT_QPA_PLATFORM": "offscreen", "HOME": home, "XDG_RUNTIME_DIR": home})
    said = ""
    try:
        for line in viewer.stdout:
            said += line
            if re.search(r'Selected +"', line):
                break
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(viewer.pid, signal.SIGKILL)  # and what it started
        viewer.communicate()
    expect(not re.search(r'line .*: "', said), said)
    expect(re.search(r'Selected +"main"', said), said)
    print(f"kcachegrind: {metric}: main is selected")
