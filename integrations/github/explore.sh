#!/usr/bin/env bash
# One campaign of the action: goes on with that of the last push, or begins with its tests.
#
# A campaign explores the image it was made with. So it is resumed only where nothing was changed (SCORE_SAME=true: the
# cache had the very key), and after a change a new one begins with all inputs that took a path before: it is where the
# old one was within seconds. What it found is in $SCORE_OUT. The exit code goes to $GITHUB_OUTPUT, so that results are
# uploaded before the job fails.
set -euo pipefail

cd "$SCORE_FOLDER"
# Words as a shell splits them, and nothing of them executed.
read_words() { # ARRAY TEXT
    local -n made="$1"
    local text
    text="$(python3 -c 'import shlex, sys; print(*shlex.split(sys.argv[1], comments=True), sep="\n")' "$2")"
    made=()
    if [ -n "$text" ]; then mapfile -t made <<< "$text"; fi
}
read_words sources "$SCORE_SOURCES"
read_words options "$SCORE_OPTIONS"
read_words cflags "$SCORE_CFLAGS"
baseline=()
if [ -n "$SCORE_BASELINE" ]; then baseline=("--baseline=$SCORE_BASELINE"); fi

# The user's patterns: `src/*.c`. A name without a file stays, so that score-embed says what is missing.
IFS=
files=()
for source in "${sources[@]}"; do
    # shellcheck disable=SC2206 # patterns are meant to be one
    files+=($source)
done

seeds="$(mktemp -d)"
trap 'rm -rf "$seeds"' EXIT
code=0
if [ -e "$SCORE_OUT/campaign.db" ] && [ "${SCORE_SAME:-}" = true ]; then
    echo "going on with the campaign of the last push"
    score-embed run --resume "$SCORE_OUT" --trust --time "$SCORE_TIME" "${baseline[@]}" || code=$?
else
    if [ -e "$SCORE_OUT/campaign.db" ]; then
        # A record of another version is none: then it begins anew.
        if score-embed export "$SCORE_OUT" --corpus "$seeds/corpus"; then
            echo "beginning with the tests of the last push"
            options+=("--first=$seeds/corpus")
        fi
        rm -rf "$SCORE_OUT"
    fi
    score-embed run --board "$SCORE_BOARD" --time "$SCORE_TIME" --out "$SCORE_OUT" "${baseline[@]}" "${options[@]}" \
        "${files[@]}" -- "${cflags[@]}" || code=$?
fi
echo "code=$code" >> "$GITHUB_OUTPUT"
if [ -e "$SCORE_OUT/campaign.db" ]; then
    # With a baseline it answers 1 if there are new bugs, as `run` did.
    score-embed report "$SCORE_OUT" --sarif "$SCORE_OUT/bugs.sarif" --junit "$SCORE_OUT/tests.xml" \
        --lcov "$SCORE_OUT/coverage.info" "${baseline[@]}" > /dev/null || true
    echo "results=true" >> "$GITHUB_OUTPUT"
fi
