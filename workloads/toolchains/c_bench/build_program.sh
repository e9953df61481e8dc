#!/bin/sh
# Builds the C program of a workload (*.c of the folder that it is called in) with what all of them share, as
# $BENCHCTL_OUT/bin/NAME, linked statically with one of the project's SQLites.
#   build_program.sh NAME SQLITE_DIR SQLITE_FLAGS [COMPILER FLAG...]
set -eu
name=$1 sqlite=$2 sqlite_flags=$3
shift 3
flags="-std=c11 -D_GNU_SOURCE -O2 -march=$BENCHCTL_ISA -static"
mkdir -p "$BENCHCTL_OUT/bin"
# shellcheck disable=SC2086
"$CC" $flags -Wall -Wextra -Werror -DCOMPILER="\"$CC_VERSION\"" -DBUILD_FLAGS="\"$flags\"" -DSQLITE_FLAGS="\"$sqlite_flags\"" \
  "$@" -I"$C_BENCH_DIR" -isystem "$sqlite" $C_BENCH_LINK ./*.c "$C_BENCH_DIR"/*.c "$sqlite/libsqlite3.a" -lm \
  -o "$BENCHCTL_OUT/bin/$name"
"$STRIP" "$BENCHCTL_OUT/bin/$name"
