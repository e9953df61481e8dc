#!/bin/sh
# Builds bin/api_costs into $BENCHCTL_OUT, linked statically with the project's SQLite and carray (workloads/toolchains/).
set -eu
cd "$(dirname "$0")"
flags="-std=c11 -D_GNU_SOURCE -O2 -march=$BENCHCTL_ISA -static"
mkdir -p "$BENCHCTL_OUT/bin"
# shellcheck disable=SC2086
"$CC" $flags -Wall -Wextra -Werror -DCOMPILER="\"$CC_VERSION\"" -DBUILD_FLAGS="\"$flags\"" -DSQLITE_FLAGS="\"$SQLITE_CARRAY_FLAGS\"" \
  -DSQLITE_ENABLE_CARRAY -I"$C_BENCH_DIR" -isystem "$SQLITE_CARRAY_DIR" $C_BENCH_LINK ./*.c "$C_BENCH_DIR"/*.c \
  "$SQLITE_CARRAY_DIR/libsqlite3.a" -lm -o "$BENCHCTL_OUT/bin/api_costs"
"$STRIP" "$BENCHCTL_OUT/bin/api_costs"
