# Building for other machines on a Debian. Sourced by tests/machines and docs/packaging/release.

# Debian packages $3… of the architecture $2, unpacked below $1; the system stays as it is.
fetch_foreign() {
    root=$1 architecture=$2
    shift 2
    complete="$root/complete-$(echo "$*" | cksum | cut -d ' ' -f 1)"
    [ ! -f "$complete" ] || return 0
    mkdir -p "$root/apt/lists/partial" "$root/apt/cache/archives/partial"
    : >"$root/apt/status"
    apt="apt-get -q -o APT::Architecture=$architecture -o APT::Architectures=$architecture -o APT::Sandbox::User= \
        -o Dir::State=$root/apt -o Dir::State::status=$root/apt/status -o Dir::Cache=$root/apt/cache"
    $apt update
    (cd "$root/apt" && $apt download "$@")
    for package in "$root"/apt/*.deb; do
        dpkg -x "$package" "$root"
    done
    touch "$complete"
}

# What meson has to know of a machine: the root of its libraries, name for gcc, for qemu, meson's names.
describe_machine() {
    root=$1 triplet=$2 qemu=$3 family=$4 endian=$5
    cat <<END
[binaries]
c = '$triplet-gcc'
ar = '$triplet-ar'
strip = '$triplet-strip'
pkgconfig = 'pkg-config'
pkg-config = 'pkg-config'
exe_wrapper = ['$qemu', '-L', '/usr/$triplet', '-E', 'LD_LIBRARY_PATH=$root/usr/lib/$triplet:$root/lib/$triplet']

[properties]
pkg_config_libdir = '$root/usr/lib/$triplet/pkgconfig'
sys_root = '$root'

[built-in options]
c_link_args = ['-L$root/usr/lib/$triplet', '-L$root/lib/$triplet', '-Wl,-rpath-link,$root/usr/lib/$triplet', '-Wl,-rpath-link,$root/lib/$triplet']

[host_machine]
system = 'linux'
cpu_family = '$family'
cpu = '$family'
endian = '$endian'
END
}
