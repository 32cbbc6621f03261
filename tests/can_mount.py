"""Whether this user can mount on this machine; tests that mount are skipped otherwise."""
import os
import re
import shutil

CAP_SYS_ADMIN = 21


def why_not():
    """The reason why mounting fails here, in one line, or None."""
    if why := os.environ.get("PROFMOUNT_CANNOT_MOUNT"):
        return why
    if not shutil.which("fusermount3"):
        return "fusermount3 is not installed (Debian: apt-get install fuse3)"
    try:
        os.close(os.open("/dev/fuse", os.O_RDWR))
    except OSError as e:
        return f"/dev/fuse cannot be opened: {e.strerror}"
    with open("/proc/self/status", encoding="utf-8") as f:
        bounds = int(re.search(r"^CapBnd:\s*(\w+)$", f.read(), re.M).group(1), 16)
    return None if bounds >> CAP_SYS_ADMIN & 1 else "this container has no right to mount"
