#!/bin/sh
# Prints every .sql file of this folder as a C string, `static const char sql_<name>[]`, without its last line feed.
set -eu
cd "$(dirname "$0")"
for file in *.sql; do
  printf 'static const char sql_%s[] =\n' "${file%.sql}"
  # Backslash and quote escaped, each line a literal; the line feed of the last one dropped.
  sed -e 's/[\\"]/\\&/g' -e 's/^/    "/' -e '$!s/$/\\n"/' -e '$s/$/";/' "$file"
done
