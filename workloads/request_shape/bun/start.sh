#!/bin/sh
# bin/bun_sqlite: says what is missing where Bun would end with an illegal instruction, and gives way to the program.
grep -q '^flags.*\bsse4_2\b.*\bpopcnt\b' /proc/cpuinfo || {
  echo "bun_sqlite: this CPU has not what Bun needs: SSE4.2 and POPCNT (x86-64-v2)" >&2
  exit 75
}
exec "$(dirname "$0")/../lib/bun_sqlite" "$@"
