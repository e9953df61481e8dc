#!/bin/sh
# Builds bin/c_sqlite into $BENCHCTL_OUT, linked statically with the project's SQLite (see workloads/toolchains/).
set -eu
cd "$(dirname "$0")"
work=$BENCHCTL_WORK
flags="-std=c11 -D_GNU_SOURCE -O2 -march=$BENCHCTL_ISA -static"
mkdir -p "$work" "$BENCHCTL_OUT/bin"
sh ../sql/embed_c.sh >"$work/sql.h"
# shellcheck disable=SC2086
"$CC" $flags -Wall -Wextra -Werror -pthread -ffile-prefix-map="$work"=. -DCOMPILER="\"$CC_VERSION\"" -DBUILD_FLAGS="\"$flags\"" \
  -I"$work" -isystem "$SQLITE_DIR" ./*.c "$SQLITE_DIR/libsqlite3.a" -lm -o "$BENCHCTL_OUT/bin/c_sqlite"
"$STRIP" "$BENCHCTL_OUT/bin/c_sqlite"
