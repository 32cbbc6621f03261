# Debian packages, by what they are for. Sourced by tests/demo, tests/all and .ci/run.
build_packages="gcc libc6-dev meson ninja-build pkg-config libfuse3-dev fuse3 zlib1g-dev libdeflate-dev liblz4-dev libexpat1-dev libdw-dev liblzma-dev libiberty-dev libseccomp-dev"
test_packages="$build_packages libcmocka-dev python3 jq libdevel-nytprof-perl perl-doc man-db"
client_packages="libdevel-nytprof-perl libxml2-utils librsvg2-bin valgrind kcachegrind dbus graphviz golang-go
    golang-src chromium firefox-esr pcmanfm xvfb xdotool imagemagick python3-pandas
    python3-distributed iproute2
    nfs-ganesha nfs-ganesha-vfs sshfs openssh-sftp-server zsh fish desktop-file-utils shared-mime-info libglib2.0-bin"
ci_packages="clang clang-format git libclang-rt-dev rsync debootstrap libisal-dev"

# Installs the viewers that tests/clients/ opens exports in, the engines that read tables (from npm DuckDB, nodejs-polars and
# hyparquet, from Debian Dask for tests/cluster), and the NFS server of tests/mount/; those tests are skipped where this fails.
install_clients() {
    command -v npm >/dev/null || client_packages="$client_packages nodejs npm"
    install_packages $client_packages && npm install --silent --no-package-lock --no-audit --no-fund --prefix tests/clients
}

# Installs what is missing of the packages named; asks the network only then.
install_packages() {
    missing=
    for package; do
        dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing="$missing $package"
    done
    [ -n "$missing" ] || return 0
    as_root=
    if [ "$(id -u)" != 0 ]; then
        if ! command -v sudo >/dev/null; then
            printf 'Packages are missing, and there is no sudo to install them with. Please run as root:\n\n' >&2
            printf '    apt-get update && apt-get install -y --no-install-recommends%s\n' "$missing" >&2
            return 1
        fi
        as_root=sudo
    fi
    $as_root apt-get update -qq &&
        $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
}
