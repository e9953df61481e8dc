#!/bin/sh
# Finds what making an amalgamation takes, beside the compiler.
set -eu
missing=''
command -v make >/dev/null || missing="$missing make"
command -v xz >/dev/null || missing="$missing xz-utils"
command -v apt-get >/dev/null || missing="$missing apt"
[ -z "$missing" ] || { echo "making SQLite of its source tree takes what is missing: apt-get install$missing" >&2; exit 1; }
