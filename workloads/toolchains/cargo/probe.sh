#!/bin/sh
# Finds a cargo with its rustc that are new enough: the first of PATH, the distribution's (Ubuntu 24.04 keeps newer ones in
# /usr/lib/rust-1.NN beside an old default), and rustup's.
# With an argument, a target: only one that can compile for it; a compiler of the distribution can, with what it lacks got later.
# Without, the names are others, since a recipe may need both.
set -eu
oldest=85
target=${1:-}
seen=''
minor() { "$1" --version 2>/dev/null | sed -n 's/^[a-z]* 1\.\([0-9][0-9]*\)\..*/\1/p'; }
fits() {
  [ -z "$target" ] || [ -d "$("$1/rustc" --print sysroot)/lib/rustlib/$target/lib" ] ||
    dpkg-query -S "$(readlink -f "$1/rustc")" >/dev/null 2>&1
}
for folder in $(echo "$PATH" | tr : ' ') /usr/bin $(ls -d /usr/lib/rust-1.*/bin 2>/dev/null | sort -rV) "${CARGO_HOME:-$HOME/.cargo}/bin"; do
  [ -x "$folder/cargo" ] && [ -x "$folder/rustc" ] || continue
  cargo_minor=$(minor "$folder/cargo") rustc_minor=$(minor "$folder/rustc")
  [ -n "$cargo_minor" ] && [ -n "$rustc_minor" ] || continue
  if [ "$cargo_minor" -ge $oldest ] && [ "$rustc_minor" -ge $oldest ]; then
    fits "$folder" || continue
    echo "CARGO_HOME=${CARGO_HOME:-$HOME/.cargo}"
    if [ -n "$target" ]; then
      echo "CARGO=$folder/cargo"
      echo "RUSTC=$folder/rustc"
      echo "CARGO_VERSION=$("$folder/cargo" --version)"
      echo "RUST_VERSION=$("$folder/rustc" --version)"
      echo "RUST_TARGET=$target"
    else
      echo "FETCH_CARGO=$folder/cargo"
      echo "FETCH_RUSTC=$folder/rustc"
      "$folder/rustc" -vV | sed -n 's/^host: /FETCH_HOST=/p'
    fi
    exit 0
  fi
  seen="$seen 1.$rustc_minor in $folder"
done
echo "cargo and rustc 1.$oldest or newer${target:+ for $target} are missing${seen:+ (found only$seen)}: apt-get install" \
  "cargo-web rustc-web (Debian 12), cargo rustc (Debian 13), cargo-1.$oldest rustc-1.$oldest (Ubuntu 24.04); or rustup" >&2
exit 1
