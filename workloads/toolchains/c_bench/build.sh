#!/bin/sh
# Hands the sources to the recipes, which compile them together with their own against their own SQLite.
set -eu
cp ./*.c ./*.h build_program.sh "$BENCHCTL_OUT/"
# Both names of the calls that have one for 64-bit offsets: which one SQLite uses is libc's affair.
wrap=''
for call in fsync fdatasync pread pread64 pwrite pwrite64 unlink fcntl fcntl64; do wrap="$wrap -Wl,--wrap=$call"; done
echo "C_BENCH_LINK=$wrap" >"$BENCHCTL_OUT/environment"
