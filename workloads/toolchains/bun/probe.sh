#!/bin/sh
# Bun is fetched by npm.
set -eu
command -v npm >/dev/null || {
  echo "npm is missing, by which Bun is fetched: apt-get install npm" >&2
  exit 1
}
