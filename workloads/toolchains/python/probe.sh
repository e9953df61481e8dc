#!/bin/sh
# Finds a python3 that can make a virtual environment with pip in it and read TOML: the distribution's own, else the first of PATH.
set -eu
for python in /usr/bin/python3 $(command -v python3 || true); do
  [ -x "$python" ] && "$python" -c 'import ensurepip, tomllib, venv' 2>/dev/null || continue
  echo "PYTHON=$python"
  echo "PYTHON_VERSION=$("$python" --version)"
  exit 0
done
echo "python3 3.11 or newer with venv is missing: apt-get install python3-venv" >&2
exit 1
