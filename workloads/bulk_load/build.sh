#!/bin/sh
# Builds bin/bulk_load into $BENCHCTL_OUT with the project's SQLite.
set -eu
cd "$(dirname "$0")"
sh "$C_BENCH_DIR/build_program.sh" bulk_load "$SQLITE_DIR" "$SQLITE_FLAGS"
