#!/bin/sh
# Builds libsqlite3.a once, for every runner that links SQLite. Arguments: flags of a variant (../sqlite_carray).
set -eu
cd "$(dirname "$0")"
manifest=$PWD/../../request_shape/rust/Cargo.toml
# The flags of the one SQLite. Everything else is SQLite's default: drivers' users get those. Loading extensions is left out
# since static programs cannot.
flags="-O2 -march=$BENCHCTL_ISA -DSQLITE_OMIT_LOAD_EXTENSION${*:+ $*}"

# cargo asks a compiler for its targets even to fetch, and the one of the PATH may be another (rustup's without a toolchain).
export RUSTC="$FETCH_RUSTC"
# The amalgamation comes with the crate that Cargo.lock pins. What is already here is not asked for again.
"$FETCH_CARGO" fetch --quiet --locked --offline --manifest-path "$manifest" --target "$FETCH_HOST" 2>/dev/null ||
  "$FETCH_CARGO" fetch --locked --manifest-path "$manifest" --target "$FETCH_HOST"
crate=$("$FETCH_CARGO" metadata --quiet --locked --offline --format-version 1 --filter-platform "$FETCH_HOST" --manifest-path "$manifest" |
  grep -o '"manifest_path":"[^"]*/libsqlite3-sys-[^"/]*/Cargo.toml"' | head -n 1 | cut -d'"' -f4)
[ -n "$crate" ] || { echo "libsqlite3-sys is not in $manifest" >&2; exit 1; }

cp "${crate%/Cargo.toml}/sqlite3/sqlite3.c" "${crate%/Cargo.toml}/sqlite3/sqlite3.h" "$BENCHCTL_WORK/"
expected=$PWD/sqlite3.sha256
cd "$BENCHCTL_WORK"
sha256sum --check --status "$expected" || {
  echo "sqlite3.c is not the pinned one: it has $(sha256sum sqlite3.c | cut -c1-64), sqlite3.sha256 says $(cut -c1-64 "$expected")" >&2
  exit 1
}
# shellcheck disable=SC2086
"$CC" $flags -ffile-prefix-map="$BENCHCTL_WORK"=. -c sqlite3.c -o sqlite3.o
rm -f libsqlite3.a
"$AR" rcsD libsqlite3.a sqlite3.o
cp libsqlite3.a sqlite3.c sqlite3.h "$BENCHCTL_OUT/"
{
  sed -n 's/^#define SQLITE_VERSION  *"\(.*\)"$/SQLITE_VERSION=\1/p; s/^#define SQLITE_SOURCE_ID  *"\(.*\)"$/SQLITE_SOURCE_ID=\1/p' sqlite3.h
  echo "SQLITE_FLAGS=$flags"
} >"$BENCHCTL_OUT/environment"
