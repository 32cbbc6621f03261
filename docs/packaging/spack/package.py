# Spack package: copy this folder to packages/profmount of a repository of yours (spack repo create), then
#
#     spack dev-build --source-path CHECKOUT profmount@main        or, with the archive of a release, spack install profmount
#
# Run here: compiled as Python. Not run: spack, which was not at hand; the names of the dependencies are those of its
# built-in repository as far as known.
from spack.package import *


class Profmount(MesonPackage):
    """Mounts performance profiles and trace stores as read-only files: calling contexts are directories, metrics are text
    files, profiles of threads and traces are CSV tables."""

    homepage = "https://localhost/profmount"
    # Put the address of your mirror and the checksum that docs/packaging/release printed here.
    url = "file:///srv/mirror/profmount-0.1.0.tar.xz"

    license("MIT")

    version("main")
    version("0.1.0", sha256="0" * 64)

    variant("fuse", default=True, description="mount; without, --ls, --cat, --extract and --check")
    variant("symbols", default=True, description="name addresses of hpcrun measurements")
    variant("seccomp", default=True, description="filter the system calls of the process that serves a mount")

    depends_on("c", type="build")
    depends_on("meson@0.56:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("libfuse@3.3:", when="+fuse")
    depends_on("zlib-api")
    depends_on("libdeflate")
    depends_on("lz4")
    depends_on("zstd")
    depends_on("expat")
    depends_on("elfutils", when="+symbols")
    depends_on("xz", when="+symbols")
    depends_on("libiberty+pic", when="+symbols")
    depends_on("libseccomp@2.5:", when="+seccomp")

    def meson_args(self):
        return [f"-D{option}={'enabled' if self.spec.satisfies('+' + option) else 'disabled'}"
                for option in ("fuse", "symbols", "seccomp")] + ["-Disal=disabled"]
