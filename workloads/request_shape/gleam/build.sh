#!/bin/sh
# Builds a release with its own Erlang runtime system into $BENCHCTL_OUT, and both programs that start it.
set -eu
cd "$(dirname "$0")"
project=$BENCHCTL_WORK/project
mkdir -p "$project/build" "$BENCHCTL_OUT/bin"
rm -rf "$project/src" "$project/build/erlang-shipment"
cp -R src gleam.toml manifest.toml "$project/"
# Packages that were brought along replace what a failed download left; without them, those of an earlier build stay.
if [ -d build/packages ]; then
  rm -rf "$project/build/packages"
  cp -R build/packages "$project/build/"
fi
GLEAM_FLAGS="gleam export erlang-shipment" sh embed_gleam.sh >"$project/src/runner/sql.gleam"
cp bin/start.sh "$BENCHCTL_OUT/bin/gleam_sqlite"
cp bin/start.sh "$BENCHCTL_OUT/bin/gleam_sqlite_sdio"
chmod 755 "$BENCHCTL_OUT"/bin/*
release=$PWD/release.escript
cd "$project"
"$GLEAM" export erlang-shipment
escript "$release" "$project/build/erlang-shipment" "$BENCHCTL_OUT"
