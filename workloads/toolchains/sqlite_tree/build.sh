#!/bin/sh
# Fetches the pinned source package once and makes the amalgamation of it.
set -eu
cd "$(dirname "$0")"
. ./pin
archive=$BENCHCTL_WORK/sqlite3_$VERSION.orig.tar.xz
is_pinned() { echo "$SHA256  $1" | sha256sum --check --status; }

# apt with a state of its own: any user may run it, on any system with an apt, and the system's lists and sources stay as they
# are. No archive key is asked for, nor how old the archive's index is, since what arrives is held against the hash above.
fetch() {
  apt=$BENCHCTL_WORK/apt
  rm -rf "$apt"
  mkdir -p "$apt/lists/partial" "$apt/cache/archives/partial" "$apt/parts"
  for suite in $SUITES; do
    echo "deb-src [trusted=yes] http://deb.debian.org/debian $suite main"
  done >"$apt/sources.list"
  cat >"$apt/apt.conf" <<EOF
Dir::Etc::sourcelist "$apt/sources.list";
Dir::Etc::sourceparts "$apt/parts";
Dir::Etc::preferencesparts "$apt/parts";
Dir::State::lists "$apt/lists";
Dir::Cache "$apt/cache";
Dir::Log "$apt";
APT::Sandbox::User "";
Acquire::Languages "none";
Acquire::Check-Valid-Until "false";
Acquire::Retries "3";
Acquire::http::Timeout "60";
EOF
  (
    export APT_CONFIG="$apt/apt.conf" TMPDIR="$apt"
    cd "$apt" && apt-get update -qq && apt-get source -qq --download-only --tar-only "sqlite3=$PACKAGE"
  ) ||
    { echo "sqlite3 $PACKAGE cannot be fetched from Debian's $SUITES (no network, or the archive has moved on: then put the archive's" \
      "version and the hash of its sqlite3_VERSION.orig.tar.xz into $PWD/pin, or that file of $VERSION, from wherever, at $archive)" >&2; exit 1; }
  mv "$apt/sqlite3_$VERSION.orig.tar.xz" "$archive"
  rm -rf "$apt"
}

[ -f "$archive" ] && is_pinned "$archive" || fetch
is_pinned "$archive" || {
  echo "$archive is not the pinned one: it has $(sha256sum "$archive" | cut -c1-64), $PWD/pin says $SHA256" >&2
  rm -f "$archive"
  exit 1
}

tree=$BENCHCTL_WORK/sqlite3-$VERSION
if ! [ -f "$tree/made" ]; then
  rm -rf "$tree"
  tar -xf "$archive" -C "$BENCHCTL_WORK"
  # Its configure finds a compiler by itself, and builds the Tcl that its generators need from its own sources.
  (cd "$tree" && ./configure --disable-tcl --disable-readline && make sqlite3.c) >"$BENCHCTL_WORK/make.log" 2>&1 ||
    { tail -n 20 "$BENCHCTL_WORK/make.log" >&2; exit 1; }
  : >"$tree/made"
fi
cp "$tree/sqlite3.c" "$tree/sqlite3.h" "$tree/test/speedtest1.c" "$tree/test/kvtest.c" "$archive" "$BENCHCTL_OUT/"
{
  echo "SQLITE_TREE_VERSION=$VERSION"
  echo "SQLITE_TREE_ARCHIVE_SHA256=$SHA256"
  sed -n 's/^#define SQLITE_SOURCE_ID  *"\(.*\)"$/SQLITE_TREE_SOURCE_ID=\1/p' "$BENCHCTL_OUT/sqlite3.h"
} >"$BENCHCTL_OUT/environment"
