#!/bin/sh
# Installs the Zig compiler of requirements.lock: a package of the project itself, here for the one program inside.
set -eu
"$PYTHON" -m venv --clear "$BENCHCTL_WORK/venv"
"$BENCHCTL_WORK/venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-compile --no-deps --require-hashes \
  --only-binary :all: --target "$BENCHCTL_OUT" -r requirements.lock || {
  # pip's own last line is "no matching distribution", whatever the cause.
  echo "the Zig compiler of requirements.lock cannot be fetched from PyPI: no network?" >&2
  exit 1
}
# Once it has moved to its place, $ZIG_DIR is where it lies.
echo "ZIG_VERSION=$("$BENCHCTL_OUT/ziglang/zig" version)" >"$BENCHCTL_OUT/environment"
