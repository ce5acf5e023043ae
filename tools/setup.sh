#!/bin/sh
# Brings a fresh Debian 12 machine to where score-embed runs: Debian packages, a virtual environment in .venv with
# score-embed installed in it, and some parsers to explore. Does nothing when all is there. Called by run-demo and
# run-tests.
set -eu
cd "$(dirname "$0")/.."

packages="gcc g++ cmake ninja-build libc6-dev gcc-arm-none-eabi libnewlib-arm-none-eabi qemu-system-arm
    gcc-riscv64-unknown-elf picolibc-riscv64-unknown-elf gcc-avr binutils-avr avr-libc qemu-system-misc
    gcc-i686-linux-gnu libc6-dev-i386-cross gcc-arm-linux-gnueabihf libc6-dev-armhf-cross
    gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user
    libjsmn-dev csmith libcsmith-dev lcov python3 python3-dev python3-venv"
missing=""
for package in $packages; do
    case "$(dpkg-query -W -f '${Status}' "$package" 2>/dev/null || true)" in
    *" installed") ;;
    *) missing="$missing $package" ;;
    esac
done
if [ -n "$missing" ]; then
    echo "installing Debian packages:$missing" >&2
    root=""
    if [ "$(id -u)" -ne 0 ]; then root="sudo"; fi
    $root apt-get update -qq
    # shellcheck disable=SC2086 # a list of words
    $root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >&2
fi

# The engine is compiled by either step, into this checkout: pip's when what is to be installed has changed, or its own
# when only its sources have.
stamp=".venv/installed-$(cksum < pyproject.toml | tr ' ' '-')"
engine=".venv/engine-$(cat toolkit/engine/CMakeLists.txt toolkit/engine/src/* | cksum | tr ' ' '-')"
if [ ! -e "$stamp" ]; then
    echo "installing score-embed into .venv" >&2
    [ -x .venv/bin/python ] || python3 -m venv .venv
    .venv/bin/python -m pip install -q --disable-pip-version-check -e '.[dev]'
    touch "$stamp" "$engine"
fi
if [ ! -e "$engine" ]; then
    echo "compiling the engine" >&2
    tools/build-engine .venv/bin/python
    rm -f .venv/engine-*
    touch "$engine"
fi

# Real parsers for the tutorial and the tests.
tools/fetch-parsers.sh || echo "could not fetch the parsers (is there a Debian mirror?): their tests are skipped" >&2
