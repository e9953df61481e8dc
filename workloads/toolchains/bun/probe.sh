#!/bin/sh
# Finds npm, which fetches Bun.
set -eu
npm=$(command -v npm) || {
  echo "npm is missing, by which Bun is fetched: apt-get install npm" >&2
  exit 1
}
echo "NPM=$npm"
