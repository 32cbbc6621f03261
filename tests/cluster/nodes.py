"""Nodes of a cluster on one machine: each has a network and a mount namespace, and a bridge connects them.

enter() starts the test again in namespaces of its own. So the network of the machine stays as it is, and when that run
ends, by whatever cause, its processes, mounts and links are gone.
"""
import os
import re
import shutil
import subprocess
import sys
import time

INSIDE = "PROFMOUNT_TEST_CLUSTER"
SECONDS = 300  # whoever waits that long hangs, however busy the machine is


def why_not():
    """One line that says why there can be no nodes here, or None."""
    for name, package in (("ip", "iproute2"), ("unshare", "util-linux"), ("nsenter", "util-linux"), ("taskset", "util-linux")):
        if not shutil.which(name):
            return f"{name} is not installed (Debian: apt-get install {package})"
    probe = subprocess.run([*apart(), "sh", "-c", "ip link add node type bridge && ip link add node0 type veth peer name node1"],
                           capture_output=True, text=True, check=False)
    return f"needs root, and network namespaces with a bridge: {probe.stderr.strip()}" if probe.returncode else None


def apart():
    user = ["--user", "--map-root-user"] if os.getuid() else []
    return ["unshare", *user, "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]


def enter():
    """Returns in the run that has namespaces of its own."""
    if os.environ.get(INSIDE):
        # Copies of other mounts would keep their programs running.
        subprocess.run(["umount", "-a", "-l", "-t", "fuse.profmount"], stderr=subprocess.DEVNULL, check=False)
        return
    os.environ[INSIDE] = "1"
    command = [*apart(), sys.executable, *sys.argv]
    os.execvp(command[0], command)


def run(*command, **more):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=SECONDS, check=False, **more)
    if done.returncode:
        raise AssertionError(f"{' '.join(command)}: exit {done.returncode}: {(done.stdout + done.stderr)[-3000:]}")
    return done.stdout


def wait_until(condition, what):
    until = time.monotonic() + SECONDS
    while not condition():
        if time.monotonic() >= until:
            raise AssertionError(f"{what}: nothing after {SECONDS} s")
        time.sleep(0.02)


class Node:
    """A machine with one processor: what it runs is kept on one of this machine's, in turn."""

    def __init__(self, number):
        processors = sorted(os.sched_getaffinity(0))
        self.processor = processors[number % len(processors)]
        self.address = f"10.77.0.{number + 1}"
        self.holder = subprocess.Popen(["unshare", "--net", "--mount", "sleep", "infinity"])
        ours, theirs = "/proc/self/ns/mnt", f"/proc/{self.holder.pid}/ns/mnt"
        wait_until(lambda: os.readlink(theirs) != os.readlink(ours), "a namespace")
        run("ip", "link", "add", f"node{number}", "type", "veth", "peer", "name", "eth0", "netns", str(self.holder.pid))
        run("ip", "link", "set", f"node{number}", "master", "bridge", "up")
        for arguments in (["address", "add", f"{self.address}/24", "dev", "eth0"], ["link", "set", "eth0", "up"],
                          ["link", "set", "lo", "up"]):
            self.run("ip", *arguments)

    def command(self, *command):
        return ["nsenter", "--target", str(self.holder.pid), "--net", "--mount", "taskset", "-c", str(self.processor), *command]

    def run(self, *command, **more):
        return run(*self.command(*command), **more)

    def processor_seconds(self, name):
        """What programs of this name that run on this node have used."""
        total, world = 0, os.readlink(f"/proc/{self.holder.pid}/ns/mnt")
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                if os.readlink(f"/proc/{pid}/ns/mnt") != world:
                    continue
                with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
                    _, program, rest = re.split(r"[()]", file.read(), maxsplit=2)
            except (FileNotFoundError, ProcessLookupError):  # the latter if it ends between open and read
                continue
            total += sum(map(int, rest.split()[11:13])) if program == name else 0
        return total / os.sysconf("SC_CLK_TCK")

    def start(self, *command, **more):
        return subprocess.Popen(self.command(*command), stdin=subprocess.DEVNULL, **more)


def make(number):
    """That many nodes, connected; to be called once, after enter()."""
    run("ip", "link", "add", "bridge", "type", "bridge")
    run("ip", "link", "set", "bridge", "up")
    return [Node(i) for i in range(number)]
