#!/bin/sh
# Finds cargo and rustc for $BENCHCTL_ARCH.
set -eu
exec sh ../cargo/probe.sh "$BENCHCTL_ARCH-unknown-linux-gnu"
