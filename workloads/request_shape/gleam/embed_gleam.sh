#!/bin/sh
# Prints the module runner/sql: every file of ../sql as a constant, without its last line feed, and what the build knows.
set -eu
cd "$(dirname "$0")"
cat <<EOF
//// Generated from sql/ by embed_gleam.sh.

pub type Statement {
  Statement(name: String, sql: String)
}

pub const gleam_version = "$GLEAM_VERSION"

pub const build_flags = "$GLEAM_FLAGS"
EOF
for file in ../sql/*.sql; do
  name=$(basename "$file" .sql)
  printf '\npub const %s = Statement(\n  "%s",\n  "' "$name" "$name"
  # Backslash and quote escaped; the line feed of the last line dropped.
  printf '%s' "$(sed -e 's/[\\"]/\\&/g' "$file")"
  printf '",\n)\n'
done
printf '\n/// Those that requests run: of one line, unlike what makes or reads a whole database.\npub const statements = [\n'
for file in ../sql/*.sql; do
  case $(basename "$file" .sql) in pragmas | schema | extra_schema | seed | every_row) ;; *) printf '  "%s",\n' "$(basename "$file" .sql)" ;; esac
done
printf ']\n'
