#!/usr/bin/env python3
"""A mount behind an NFS server: clients read the same, and their handles outlive both programs.

The server is NFS-Ganesha, which opens files by handle, as the kernel's does. The client is below, since real ones do
not show their handles. Exit 77, with a reason, where the server cannot run.
"""
import contextlib
import os
import shutil
import socket
import stat
import struct
import subprocess
import tempfile
import unittest

from mounts import SECONDS, main, mounted, skip_where, slurp, wait_until, walk

CONFIG = """
NFS_CORE_PARAM {{ Protocols = 4; NFS_Port = {port}; Bind_addr = 127.0.0.1; Enable_RQUOTA = false; }}
NFSV4 {{ Graceless = true; Minor_Versions = 0; RecoveryRoot = {folder}; }}
EXPORT {{ Export_Id = 42; Path = {point}; Pseudo = /prof; Access_Type = RO; FSAL {{ Name = VFS; }} }}
"""
PUTFH, PUTROOTFH, GETFH, LOOKUP, READ, READDIR = 22, 24, 10, 15, 25, 26


def opaque(data):
    return struct.pack(">I", len(data)) + data + bytes(-len(data) % 4)


class Reply:
    """Results of a call, from the first on."""

    def __init__(self, data):
        self.data = data

    def take(self, form):
        values = struct.unpack_from(form, self.data)
        self.data = self.data[struct.calcsize(form):]
        return values

    def opaque(self):
        length, = self.take(">I")
        data, self.data = self.data[:length], self.data[length + -length % 4:]
        return data


class Client:
    """The part of NFS 4.0 (RFC 7530) that is needed to get handles and to use them."""

    def __init__(self, stream):
        self.stream = stream

    def call(self, *operations):
        """The result of the last of these operations (number, arguments); the others return nothing."""
        body = struct.pack(">7I", 1, 0, 2, 100003, 4, 1, 1) + opaque(bytes(20)) + bytes(8)  # by root, and unverified
        body += struct.pack(">3I", 0, 0, len(operations))
        body += b"".join(struct.pack(">I", number) + arguments for number, arguments in operations)
        self.stream.write(struct.pack(">I", 1 << 31 | len(body)) + body)
        self.stream.flush()
        data, last = b"", 0
        while not last:
            mark, = struct.unpack(">I", self.stream.read(4))
            data, last = data + self.stream.read(mark & 0x7fffffff), mark >> 31
        reply = Reply(data)
        *_, executed, status, _, _ = reply.take(">9I")
        assert executed == 0 and status == 0, f"NFS error {status}"
        for _ in operations:
            reply.take(">II")
        return reply

    def handle(self, *path):
        lookups = ((LOOKUP, opaque(os.fsencode(name))) for name in path)
        return self.call((PUTROOTFH, b""), *lookups, (GETFH, b"")).opaque()

    def read(self, handle):
        data, end = b"", False
        while not end:
            reply = self.call((PUTFH, opaque(handle)), (READ, bytes(16) + struct.pack(">QI", len(data), 1 << 16)))
            end, = reply.take(">I")
            data += reply.opaque()
        return data

    def names(self, handle):
        names, cookie, end = [], 0, False
        while not end:
            reply = self.call((PUTFH, opaque(handle)), (READDIR, struct.pack(">QQIII", cookie, 0, 4096, 4096, 0)))
            reply.take(">Q")
            while reply.take(">I") == (1,):
                cookie, = reply.take(">Q")
                names.append(os.fsdecode(reply.opaque()))
                reply.take(">II")  # no attributes
            end, = reply.take(">I")
        return names


def answers(port):
    with socket.socket() as s:
        # As long as nobody listens, a connection can get this very port as its own, and is connected to itself then.
        return s.connect_ex(("127.0.0.1", port)) == 0 and s.getsockname() != s.getpeername()


@contextlib.contextmanager
def exported():
    """A mountpoint, and a client of the server that exports it."""
    with mounted("-o", "allow_other") as point, tempfile.TemporaryDirectory() as folder:
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        config, log = os.path.join(folder, "config"), os.path.join(folder, "log")
        with open(config, "w", encoding="utf-8") as f:
            f.write(CONFIG.format(**locals()))
        server = subprocess.Popen(["ganesha.nfsd", "-F", "-f", config, "-L", log, "-p", os.path.join(folder, "pid")])
        try:
            assert wait_until(lambda: answers(port)), slurp(log).decode()
            with socket.create_connection(("127.0.0.1", port), SECONDS) as s, s.makefile("rwb") as stream:
                yield point, Client(stream)
        finally:
            server.terminate()
            server.wait(SECONDS)


class Nfs(unittest.TestCase):
    def test_clients_read_what_the_mount_holds(self):
        with exported() as (point, client):
            for path in [p for p in walk(point) if not os.path.islink(p)][:200]:
                handle = client.handle("prof", *os.path.relpath(path, point).split("/"))
                if os.path.isdir(path):
                    self.assertEqual(sorted(client.names(handle)), sorted(os.listdir(path)), path)
                else:
                    self.assertEqual(client.read(handle), slurp(path), path)

    def test_handles_outlive_the_server_and_the_mount(self):
        with exported() as (point, client):
            device = os.stat(point).st_dev
            paths = [p for p in walk(point) if stat.S_ISREG(os.lstat(p).st_mode)][::20]
            want = [(client.handle("prof", *os.path.relpath(p, point).split("/")), slurp(p)) for p in paths]
        with exported() as (point, client):
            if os.stat(point).st_dev != device:
                self.skipTest("the mount got another device number, which Ganesha's handles hold")
            for handle, data in want:
                self.assertEqual(client.read(handle), data)


if __name__ == "__main__":
    skip_where(not shutil.which("ganesha.nfsd") and "needs NFS-Ganesha (Debian: apt-get install nfs-ganesha nfs-ganesha-vfs)")
    skip_where(os.getuid() != 0 and "needs root")
    main()
