#!/bin/sh
# Fetches real embedded parsers, as their authors published them (Debian's own patches mend some of the bugs that
# examples/parsers finds), into ~/.cache/score-embed/parsers. Does nothing when all are there. Called by setup.sh.
# Arguments: other packages instead. Works without root: apt reads its lists of source packages into a folder of ours.
set -eu
packages="${*:-libb64 libmodbus libtomcrypt cjson http-parser zlib jsmn mbedtls libtommath}"
place="${XDG_CACHE_HOME:-$HOME/.cache}/score-embed/parsers"

missing=""
for package in $packages; do
    [ -d "$place/$package" ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

mkdir -p "$place"
work="$(mktemp -d "$place/.fetch-XXXXXX")" # beside the result, which then appears whole
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/lists/partial" "$work/cache/archives/partial"
chmod 755 "$work" # apt downloads as a user of its own
# The machine's own Debian mirror, for source packages.
key="/usr/share/keyrings/debian-archive-keyring.gpg"
apt-get indextargets --format "deb-src [signed-by=$key] \$(REPO_URI) \$(RELEASE) \$(COMPONENT)" \
    'Created-By: Packages' 'Label: Debian' 'Component: main' | sort -u > "$work/sources.list"
apt() {
    apt-get -qq -o "Dir::Etc::sourcelist=$work/sources.list" -o Dir::Etc::sourceparts=/dev/null \
        -o "Dir::State::lists=$work/lists" -o "Dir::Cache=$work/cache" -o APT::Sandbox::User=root "$@"
}
echo "fetching parsers:$missing" >&2
apt update >&2
cd "$work"
for package in $missing; do
    apt source --download-only --tar-only "$package" >&2
    mkdir "$work/$package"
    tar -xf "$package"_*.orig.tar.* -C "$work/$package" --strip-components=1
    mv -T "$work/$package" "$place/$package"
done
