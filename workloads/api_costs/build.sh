#!/bin/sh
# Builds bin/api_costs into $BENCHCTL_OUT with the project's SQLite that has carray.
set -eu
cd "$(dirname "$0")"
sh "$C_BENCH_DIR/build_program.sh" api_costs "$SQLITE_CARRAY_DIR" "$SQLITE_CARRAY_FLAGS" -DSQLITE_ENABLE_CARRAY
