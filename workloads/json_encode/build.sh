#!/bin/sh
# Builds bin/json_encode into $BENCHCTL_OUT with the project's SQLite.
set -eu
cd "$(dirname "$0")"
sh "$C_BENCH_DIR/build_program.sh" json_encode "$SQLITE_DIR" "$SQLITE_FLAGS"
