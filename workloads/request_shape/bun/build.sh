#!/bin/sh
# Builds bin/bun_sqlite into $BENCHCTL_OUT: Bun's own program with the script inside.
set -eu
cd "$(dirname "$0")"
# What lies in a trial's working directory must not change what runs: neither flag is about the code.
flags="build --compile --no-compile-autoload-dotenv --no-compile-autoload-bunfig"
mkdir -p "$BENCHCTL_OUT/bin"
# shellcheck disable=SC2086
"$BUN_DIR/bun" $flags --define "BUILD_FLAGS=\"bun $flags\"" --outfile="$BENCHCTL_OUT/bin/bun_sqlite" main.ts worker.ts
