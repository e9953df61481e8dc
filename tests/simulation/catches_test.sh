#!/bin/bash
# catches_test.sh SIMULATION: every mutant must be caught by some invariant, and nothing may be caught without one.
set -uo pipefail
simulation=$1 failed=0
for mutant in resume state budget value exit build; do
  out=$("$simulation" --schedules 300 --jobs 2 --mutant "$mutant")
  code=$?
  echo "mutant $mutant: $(grep -m1 -o 'BROKEN, .*' <<<"$out" || echo 'NOT CAUGHT')"
  [ "$code" = 1 ] || failed=1
done
"$simulation" --schedules 300 --jobs 2 | tail -1 || failed=1
exit "$failed"
