#!/bin/sh
# Finds a C compiler for $BENCHCTL_ARCH, its binutils and a static C library: this computer's own, or a cross compiler.
set -eu
if [ "$BENCHCTL_ARCH" = "$(uname -m)" ]; then
  prefix='' packages='gcc binutils libc6-dev'
else
  prefix=$BENCHCTL_ARCH-linux-gnu- packages="gcc-$(echo "$BENCHCTL_ARCH" | tr _ -)-linux-gnu"
fi
CC=$(command -v "${prefix}gcc") && STRIP=$(command -v "${prefix}strip") && AR=$(command -v "${prefix}ar") &&
  libc=$("$CC" -print-file-name=libc.a) && [ "$libc" != libc.a ] || {
  echo "a C compiler for $BENCHCTL_ARCH with a static C library is missing: apt-get install $packages" >&2
  exit 1
}
echo "CC=$CC"
echo "STRIP=$STRIP"
echo "AR=$AR"
echo "CC_VERSION=$("$CC" --version | head -n 1)"
echo "AR_VERSION=$("$AR" --version | head -n 1)"
