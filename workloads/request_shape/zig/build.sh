#!/bin/sh
# Builds bin/zig_sqlite into $BENCHCTL_OUT, linked statically with the project's SQLite (see workloads/toolchains/).
set -eu
cd "$(dirname "$0")"
work=$BENCHCTL_WORK
target="$BENCHCTL_ARCH-linux-gnu"
# Zig's "generic" of aarch64 is armv8-a.
case $BENCHCTL_ISA in armv8-a) cpu=generic ;; *) cpu=$(echo "$BENCHCTL_ISA" | tr - _) ;; esac
flags="-O safe -fstrip -fno-stack-check -target $target -mcpu $cpu"
mkdir -p "$work" "$BENCHCTL_OUT/bin"
echo "pub const flags = \"$flags, linked by cc -static\";" >"$work/build.zig"
# Zig compiles; the C compiler links, as it does for the C runner: the same SQLite needs the same C library around it. So
# Zig's own runtime library stays out, whose memcpy would take the place of the C library's, and with it the stack checks.
# shellcheck disable=SC2086
"$ZIG_DIR/ziglang/zig" build-obj $flags -lc --name zig_sqlite -femit-bin="$work/zig_sqlite.o" \
  --cache-dir "$work/cache" --global-cache-dir "$work/cache" \
  --dep build --dep sql -Mroot=main.zig -Mbuild="$work/build.zig" -Msql=../sql/embed.zig
"$CC" -static "$work/zig_sqlite.o" "$SQLITE_DIR/libsqlite3.a" -lm -pthread -o "$BENCHCTL_OUT/bin/zig_sqlite"
"$STRIP" "$BENCHCTL_OUT/bin/zig_sqlite"
