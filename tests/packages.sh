# Packages by what they are for, with Debian's names; and how to install what is missing. Sourced by tests/demo, tests/all
# and .ci/run.
build_packages="gcc libc6-dev meson ninja-build pkg-config libfuse3-dev fuse3 zlib1g-dev libdeflate-dev liblz4-dev libzstd-dev libexpat1-dev libdw-dev liblzma-dev libiberty-dev libseccomp-dev"
# Not on every machine: inflates faster.
optional_packages="libisal-dev"
test_packages="$build_packages libcmocka-dev python3 jq libdevel-nytprof-perl perl-doc man-db"
client_packages="libdevel-nytprof-perl libxml2-utils librsvg2-bin valgrind kcachegrind dbus graphviz golang-go
    golang-src chromium firefox-esr pcmanfm xvfb xdotool imagemagick python3-pandas
    python3-distributed iproute2
    nfs-ganesha nfs-ganesha-vfs sshfs openssh-sftp-server zsh fish desktop-file-utils shared-mime-info libglib2.0-bin"
ci_packages="clang clang-format git libclang-rt-dev rsync debootstrap libisal-dev"

# What else installs the packages to build with, one line each: program, command. Tried here for their syntax only
# (tests/command/test_scripts.py): no such system was at hand. The lines for dnf need EPEL and CRB on RHEL and its rebuilds.
other_systems="dnf:dnf install gcc meson ninja-build pkgconf-pkg-config fuse3 fuse3-devel zlib-devel libdeflate-devel lz4-devel libzstd-devel expat-devel elfutils-devel xz-devel binutils-devel libseccomp-devel
zypper:zypper install gcc meson ninja pkgconf-pkg-config fuse3 fuse3-devel zlib-devel libdeflate-devel liblz4-devel libzstd-devel libexpat-devel libdw-devel xz-devel binutils-devel libseccomp-devel
pacman:pacman -S --needed gcc meson ninja pkgconf fuse3 zlib libdeflate lz4 zstd expat libelf xz binutils libseccomp isa-l
apk:apk add gcc musl-dev linux-headers meson ninja-build pkgconf fuse3 fuse3-dev zlib-dev libdeflate-dev lz4-dev zstd-dev expat-dev elfutils-dev xz-dev binutils-dev libseccomp-dev
spack:spack install meson ninja pkgconf libfuse zlib libdeflate lz4 zstd expat elfutils xz libiberty+pic libseccomp"

# Installs the viewers that tests/clients/ opens exports in, the engines that read tables (from npm DuckDB, nodejs-polars and
# hyparquet, from Debian Dask for tests/cluster), and the NFS server of tests/mount/; those tests are skipped where this fails.
install_clients() {
    command -v npm >/dev/null || client_packages="$client_packages nodejs npm"
    install_packages $client_packages && npm install --silent --no-package-lock --no-audit --no-fund --prefix tests/clients
}

# Runs a command; its output is shown only if it fails: quietly WHAT COMMAND…
quietly() {
    what=$1
    shift
    said=$(mktemp)
    "$@" >"$said" 2>&1 && rm -f "$said" && return 0
    status=$?
    tail -n 40 "$said" >&2
    printf '\n%s failed (exit %s); its last lines are above, all of them in %s\n' "$what" "$status" "$said" >&2
    return "$status"
}

# Whether version $1 is at least $2.
is_at_least() {
    [ "$(printf '%s\n%s\n' "$1" "$2" | sort -V | head -n 1)" = "$2" ]
}

# Before anything is installed: the meson and libfuse that apt would give, where they are too old.
check_versions() {
    for wanted in meson=0.56 libfuse3-dev=3.3; do
        name=${wanted%=*} least=${wanted#*=}
        version=$(apt-cache policy "$name" 2>/dev/null | sed -n 's/^  Candidate: \([0-9]*:\)\{0,1\}\([0-9.]*\).*/\2/p')
        [ -n "$version" ] && ! is_at_least "$version" "$least" || continue
        printf '%s is needed in version %s, and this system has %s.\n' "$name" "$least" "$version" >&2
        case $name in
        meson) printf 'Install a newer one with: pip3 install --user meson\n' >&2 ;;
        *) printf 'Without mounts: meson setup -Dfuse=disabled build && ninja -C build\n' >&2 ;;
        esac
        return 1
    done
}

# On a system without apt: builds with what is there, and says what to install where that fails.
without_apt() {
    for tool in gcc meson ninja pkg-config; do
        command -v "$tool" >/dev/null || missing_tool=$tool
    done
    [ -n "${missing_tool-}" ] || pkg-config --exists fuse3 zlib liblz4 expat || missing_tool='a library'
    [ -n "${missing_tool-}" ] || return 0
    printf 'Something to build with is missing (%s), and this is no Debian. Install it with one of\n\n' "$missing_tool" >&2
    echo "$other_systems" | while IFS=: read -r program command; do
        ! command -v "$program" >/dev/null 2>&1 || here=yes
        [ -z "${here-}" ] && [ "$program" != spack ] || printf '    %s\n' "$command"
        here=
    done >&2
    return 1
}

# Installs what is missing of the packages named; asks the network only then.
install_packages() {
    if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
        without_apt
        return
    fi
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
    echo "Installing$missing"
    quietly 'apt-get update' $as_root apt-get update -q && check_versions || return 1
    quietly 'apt-get install' $as_root env DEBIAN_FRONTEND=noninteractive \
        apt-get install -y -q --no-install-recommends $missing || return 1
    # Not every release has them, and nothing depends on them.
    for package in $optional_packages; do
        ! apt-cache show "$package" >/dev/null 2>&1 ||
            $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends "$package" >/dev/null 2>&1 ||
            echo "$package could not be installed; profmount is built without it."
    done
}

# Configures a build folder if that has not been done to its end, or packages have changed since, of which meson would not
# look again for those that were missing: configure FOLDER [OPTION…]
configure() {
    folder=$1
    shift
    if [ ! -f "$folder/build.ninja" ]; then
        quietly "meson setup $folder" meson setup "$folder" "$@"
    elif [ "${DPKG_ADMINDIR:-/var/lib/dpkg}/status" -nt "$folder/build.ninja" ]; then
        quietly "meson configure $folder" meson configure "$folder" --clearcache &&
            quietly "meson setup $folder" meson setup --reconfigure "$folder" "$@"
    fi
}
