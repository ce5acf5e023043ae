#!/bin/sh
# Installs Debian's Chromium without a window (96 MB to fetch, 270 MB on the disk), in which the tests open the pages of
# `report --html`. score-embed itself needs no browser. Does nothing when there is one. Called by run-tests.
set -eu
if command -v chromium-headless-shell > /dev/null || command -v chromium > /dev/null; then exit 0; fi
echo "installing Debian packages: chromium-headless-shell" >&2
root=""
if [ "$(id -u)" -ne 0 ]; then root="sudo"; fi
$root apt-get update -qq
$root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium-headless-shell >&2
