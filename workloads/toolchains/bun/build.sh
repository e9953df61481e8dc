#!/bin/sh
# Installs the Bun of package-lock.json: a package of npm for the one program inside. What is already here is not asked for
# again; scripts of packages are not run.
set -eu
cp package.json package-lock.json "$BENCHCTL_WORK/"
cd "$BENCHCTL_WORK"
npm ci --ignore-scripts --prefer-offline --no-audit --no-fund --no-update-notifier --fetch-retry-maxtimeout=10000 || {
  echo "Bun of package-lock.json cannot be fetched from npm's registry: no network?" >&2
  exit 1
}
cp node_modules/@oven/bun-linux-x64/bin/bun "$BENCHCTL_OUT/bun"
echo "BUN_VERSION=$("$BENCHCTL_OUT/bun" --revision)" >"$BENCHCTL_OUT/environment"
