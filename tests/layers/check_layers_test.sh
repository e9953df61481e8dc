#!/bin/bash
# The layer check passes on the tree and fails on each kind of violation planted into a copy of it.
#   check_layers_test.sh SOURCE_ROOT
set -euo pipefail
root=$1 check=$1/tests/layers/check_layers.py
python3 "$check" "$root"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
expect_violation() { # FILE LINE
  rm -rf "$work/tree" && mkdir -p "$work/tree/lib" "$work/tree/$(dirname "$1")"
  printf '%s\n' "$2" >"$work/tree/$1"
  if python3 "$check" "$work/tree" >"$work/said"; then
    echo "not caught: $1: $2" >&2
    exit 1
  fi
}
expect_violation lib/a.cc '#include "agent/exec/job.h"'
expect_violation agent/exec/a.cc '#include "controller/plan/plan.h"'
expect_violation controller/store/a.h '#include "controller/fleet/execute.h"'
expect_violation controller/fleet/a.cc '#include "provisioning/providers/nspawn.h"'
expect_violation controller/store/a.cc '#include <nlohmann/json.hpp>'
expect_violation provisioning/ssh/a.h '#include <libssh/libssh.h>'
expect_violation elsewhere/../controller/unheard/a.cc '#include "lib/text.h"'
echo "layers: 7 planted violations caught"
