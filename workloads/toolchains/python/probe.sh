#!/bin/sh
# Finds a Python that can read TOML by itself.
set -eu
PYTHON=$(command -v python3) && "$PYTHON" -c 'import tomllib' 2>/dev/null || {
  echo "python3 3.11 or newer is missing: apt-get install python3" >&2
  exit 1
}
echo "PYTHON=$PYTHON"
echo "PYTHON_VERSION=$("$PYTHON" --version)"
