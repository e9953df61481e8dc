#!/bin/sh
# The recipe of ../sqlite with one more flag; its variables are named apart, since a recipe may need both.
set -eu
sh ../sqlite/build.sh -DSQLITE_ENABLE_CARRAY
sed -i 's/^SQLITE_/SQLITE_CARRAY_/' "$BENCHCTL_OUT/environment"
