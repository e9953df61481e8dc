#!/bin/sh
# Builds bin/json_encode into $BENCHCTL_OUT, linked statically with the project's SQLite (workloads/toolchains/).
set -eu
cd "$(dirname "$0")"
flags="-std=c11 -D_GNU_SOURCE -O2 -march=$BENCHCTL_ISA -static"
mkdir -p "$BENCHCTL_OUT/bin"
# shellcheck disable=SC2086
"$CC" $flags -Wall -Wextra -Werror -DCOMPILER="\"$CC_VERSION\"" -DBUILD_FLAGS="\"$flags\"" -DSQLITE_FLAGS="\"$SQLITE_FLAGS\"" \
  -I"$C_BENCH_DIR" -isystem "$SQLITE_DIR" $C_BENCH_LINK ./*.c "$C_BENCH_DIR"/*.c "$SQLITE_DIR/libsqlite3.a" -lm \
  -o "$BENCHCTL_OUT/bin/json_encode"
"$STRIP" "$BENCHCTL_OUT/bin/json_encode"
