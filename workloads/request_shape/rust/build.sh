#!/bin/sh
# Builds bin/rust_rusqlite into $BENCHCTL_OUT, linked statically with the project's SQLite (see workloads/toolchains/).
set -eu
cd "$(dirname "$0")"
export CARGO_TARGET_DIR="$BENCHCTL_WORK" CARGO_INCREMENTAL=0 CARGO_TERM_COLOR=never
# Without SQLITE3_NO_PKG_CONFIG libsqlite3-sys would prefer the distribution's library, found by pkg-config.
export SQLITE3_LIB_DIR="$SQLITE_DIR" SQLITE3_INCLUDE_DIR="$SQLITE_DIR" SQLITE3_STATIC=1 SQLITE3_NO_PKG_CONFIG=1
# rustc has no names for the levels of Arm's architecture: its "generic" is armv8-a.
case $BENCHCTL_ISA in armv8-a) cpu=generic ;; *) cpu=$BENCHCTL_ISA ;; esac
export BENCHCTL_BUILD_FLAGS="-C opt-level=3 -C lto=fat -C codegen-units=1 -C panic=abort -C target-cpu=$cpu -C target-feature=+crt-static"
export BENCHCTL_RUSTC_VERSION="$RUST_VERSION"
BENCHCTL_RUSQLITE_VERSION=$(sed -n '/^name = "rusqlite"$/{n;s/version = "\(.*\)"/\1/p;}' Cargo.lock)
export BENCHCTL_RUSQLITE_VERSION
sysroot=''
[ ! -d "$RUST_DIR/sysroot" ] || sysroot="--sysroot=$RUST_DIR/sysroot"
export RUSTFLAGS="-C target-cpu=$cpu -C target-feature=+crt-static --remap-path-prefix=$PWD=. --remap-path-prefix=$CARGO_HOME=cargo -C linker=$CC $sysroot"
# What is already here is not asked for again; the build itself takes nothing from the network.
"$CARGO" fetch --quiet --locked --offline --target "$RUST_TARGET" 2>/dev/null || "$CARGO" fetch --locked --target "$RUST_TARGET"
# An explicit target keeps these flags away from build scripts, which run here.
"$CARGO" build --release --locked --offline --target "$RUST_TARGET" --quiet
mkdir -p "$BENCHCTL_OUT/bin"
cp "$CARGO_TARGET_DIR/$RUST_TARGET/release/rust_rusqlite" "$BENCHCTL_OUT/bin/"
