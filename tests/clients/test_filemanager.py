#!/usr/bin/env python3
"""A desktop file manager (pcmanfm under Xvfb) browses a mount: names, thumbnails of pictures, and nothing hangs."""
import contextlib
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

sys.path.append(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import can_mount  # noqa: E402
from clients import expect, program, run, skip

if len(sys.argv) not in (3, 4):
    sys.exit(f"usage: {sys.argv[0]} PROFMOUNT SOURCE [SCREENSHOTS]")
PROFMOUNT, SOURCE = (os.path.abspath(a) for a in sys.argv[1:3])
SECONDS = 600  # whoever waits that long hangs, however busy the machine is


class Screen:
    """An X server without a screen, with a session bus and a home directory of its own."""

    def __init__(self, home):
        receive, send = os.pipe()
        self.server = subprocess.Popen([program("Xvfb", "xvfb"), "-displayfd", str(send), "-screen", "0", "1400x1000x24"],
                                       pass_fds=(send,), stderr=subprocess.DEVNULL)
        os.close(send)
        with open(receive, encoding="ascii") as file:
            display = ":" + file.readline().strip()
        self.colours = set()
        self.env = {**os.environ, "DISPLAY": display, "HOME": home, "XDG_RUNTIME_DIR": home, "XDG_CONFIG_HOME": home,
                    "XDG_CACHE_HOME": home, "NO_AT_BRIDGE": "1",
                    # Without gvfs: its daemons look into every mount of the machine, and keep those of other tests busy.
                    "GIO_USE_VFS": "local", "GIO_USE_VOLUME_MONITOR": "unix"}
        self.env.pop("MALLOC_PERTURB_", None)  # meson sets it; pcmanfm hangs with it where thumbnails are large

        # Thumbnails so large that the pictures' colours survive, in a window that holds them all.
        for file, text in (("libfm/libfm.conf", "[ui]\nbig_icon_size=256\nthumbnail_size=256\n"),
                           ("pcmanfm/default/pcmanfm.conf", "[ui]\nwin_width=1400\nwin_height=1000\n")):
            os.makedirs(os.path.dirname(os.path.join(home, file)))
            with open(os.path.join(home, file), "w", encoding="ascii") as config:
                config.write(text)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.terminate()
        self.server.wait(SECONDS)

    def window(self, title):
        """The number of the window with this title, once it is there."""
        said = run("xdotool", "search", "--sync", "--onlyvisible", "--name", f"^{title}$", timeout=SECONDS, env=self.env)
        return said.split()[-1]

    def flames(self, path=None):
        """The number of pixels in colours of the flame graph's boxes; saves a screenshot at `path`."""
        if path:
            run("import", "-window", "root", path, timeout=SECONDS, env=self.env)
        shot = subprocess.run(["import", "-window", "root", "-depth", "8", "rgb:-"], env=self.env, timeout=SECONDS,
                              stdout=subprocess.PIPE, check=True).stdout
        return sum(point in self.colours for point in zip(shot[::3], shot[1::3], shot[2::3]))


def browse(screen, folder, flames):
    """Opens a folder, waits until the flame graph's thumbnail has been drawn, and closes the window."""
    before = screen.flames()
    manager = subprocess.Popen(["dbus-run-session", "--", "pcmanfm", "--no-desktop", folder], env=screen.env,
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                               start_new_session=True)
    try:
        window = screen.window(os.path.basename(folder))
        until = time.time() + SECONDS
        while (seen := screen.flames() - before) < flames and time.time() < until:
            time.sleep(0.5)
        if len(sys.argv) > 3:
            screen.flames(os.path.join(sys.argv[3], os.path.basename(folder) + ".png"))
        expect(seen >= flames, f"{folder}: pictures have no thumbnails")
        # Who hangs does not close its window. A key can be lost on its way: there is no window manager.
        until = time.time() + SECONDS
        while manager.poll() is None:
            expect(time.time() < until, f"{folder}: pcmanfm does not close its window")
            subprocess.run(["xdotool", "windowfocus", window, "key", "ctrl+w"], env=screen.env, timeout=SECONDS,
                           stderr=subprocess.DEVNULL, check=False)
            time.sleep(1)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(manager.pid, signal.SIGKILL)  # and what it started
    print(f"pcmanfm: {os.path.basename(folder)}: {seen} points of flames")


for name, package in (("pcmanfm", "pcmanfm"), ("dbus-run-session", "dbus"), ("xdotool", "xdotool"),
                      ("import", "imagemagick"), ("fusermount3", "fuse3")):
    program(name, package)
if why := can_mount.why_not():
    skip(why)

with tempfile.TemporaryDirectory(prefix="profmount-clients-") as home:
    point = os.path.join(home, "profile")
    os.mkdir(point)
    run(PROFMOUNT, SOURCE, point)
    try:
        with Screen(home) as screen:
            with open(os.path.join(point, "export", "flamegraph.svg"), encoding="utf-8") as picture:
                fills = [tuple(bytes.fromhex(f)) for f in re.findall('<rect[^>]* fill="#([0-9a-f]{6})"', picture.read())]
            screen.colours = {fill for fill in fills if max(fill) - min(fill) > 60}  # greys are everywhere
            browse(screen, point, 0)
            browse(screen, os.path.join(point, "export"), 100)
    finally:
        run("fusermount3", "-u", point)  # fails where something is still open
