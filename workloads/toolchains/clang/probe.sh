#!/bin/sh
# Finds clang.
set -eu
CLANG=$(command -v clang) || {
  echo "clang is missing: apt-get install clang" >&2
  exit 1
}
echo "CLANG=$CLANG"
echo "CLANG_VERSION=$("$CLANG" --version | head -n 1)"
