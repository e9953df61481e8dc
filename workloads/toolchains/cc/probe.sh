#!/bin/sh
# Finds gcc, strip and the static C library.
set -eu
CC=$(command -v gcc) && STRIP=$(command -v strip) && libc=$(gcc -print-file-name=libc.a) && [ "$libc" != libc.a ] || {
  echo "a C compiler with a static C library is missing: apt-get install gcc binutils libc6-dev" >&2
  exit 1
}
echo "CC=$CC"
echo "STRIP=$STRIP"
echo "CC_VERSION=$("$CC" --version | head -n 1)"
echo "AR_VERSION=$(ar --version | head -n 1)"
