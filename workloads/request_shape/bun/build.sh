#!/bin/sh
# Builds into $BENCHCTL_OUT: lib/bun_sqlite, Bun's own program with the script inside, and the small script that starts it.
set -eu
cd "$(dirname "$0")"
flags="bun build --compile"
mkdir -p "$BENCHCTL_OUT/bin" "$BENCHCTL_OUT/lib"
# What lies in the working directory of a trial must not change what runs.
"$BUN_DIR/bun" build --compile --no-compile-autoload-dotenv --no-compile-autoload-bunfig --define "BUILD_FLAGS=\"$flags\"" \
  --outfile="$BENCHCTL_OUT/lib/bun_sqlite" main.ts worker.ts
cp start.sh "$BENCHCTL_OUT/bin/bun_sqlite"
chmod 755 "$BENCHCTL_OUT/bin/bun_sqlite"
