#!/bin/sh
# Finds a cargo with its rustc that are new enough: the first of PATH, the distribution's (Ubuntu 24.04 keeps newer ones in
# /usr/lib/rust-1.NN beside an old default), and rustup's.
set -eu
oldest=85
seen=''
minor() { "$1" --version 2>/dev/null | sed -n 's/^[a-z]* 1\.\([0-9][0-9]*\)\..*/\1/p'; }
for folder in $(echo "$PATH" | tr : ' ') /usr/bin $(ls -d /usr/lib/rust-1.*/bin 2>/dev/null | sort -rV) "${CARGO_HOME:-$HOME/.cargo}/bin"; do
  [ -x "$folder/cargo" ] && [ -x "$folder/rustc" ] || continue
  cargo_minor=$(minor "$folder/cargo") rustc_minor=$(minor "$folder/rustc")
  [ -n "$cargo_minor" ] && [ -n "$rustc_minor" ] || continue
  if [ "$cargo_minor" -ge $oldest ] && [ "$rustc_minor" -ge $oldest ]; then
    echo "CARGO=$folder/cargo"
    echo "RUSTC=$folder/rustc"
    echo "CARGO_HOME=${CARGO_HOME:-$HOME/.cargo}"
    echo "CARGO_VERSION=$("$folder/cargo" --version)"
    "$folder/rustc" -vV | sed -n '1s/^/RUST_VERSION=/p; s/^host: /RUST_TARGET=/p'
    exit 0
  fi
  seen="$seen 1.$rustc_minor in $folder"
done
echo "cargo and rustc 1.$oldest or newer are missing${seen:+ (found only$seen)}: apt-get install" \
  "cargo-web rustc-web (Debian 12), cargo rustc (Debian 13), cargo-1.$oldest rustc-1.$oldest (Ubuntu 24.04); or rustup" >&2
exit 1
