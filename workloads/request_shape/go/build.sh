#!/bin/sh
# Builds bin/go_ncruces into $BENCHCTL_OUT: without cgo, and so static. The driver brings its own SQLite.
set -eu
cd "$(dirname "$0")"
source=$BENCHCTL_WORK/source
export GOROOT="$GO_DIR/go" GOTOOLCHAIN=local GOENV=off GOOS=linux CGO_ENABLED=0
export GOPATH="$BENCHCTL_WORK/path" GOCACHE="$BENCHCTL_WORK/cache" GOFLAGS='-mod=readonly -modcacherw -buildvcs=false'
case $BENCHCTL_ARCH in
  x86_64) export GOARCH=amd64 GOAMD64="${BENCHCTL_ISA#x86-64-}" ;;
  aarch64) export GOARCH=arm64 GOARM64=v8.0 ;;
  *) echo "go/build.sh: $BENCHCTL_ARCH is not known here" >&2; exit 1 ;;
esac
# Go embeds only what lies below the module.
rm -rf "$source"
mkdir -p "$source/sql" "$BENCHCTL_OUT/bin"
cp ./*.go go.mod go.sum "$source/"
cp ../sql/*.sql "$source/sql/"
cd "$source"
"$GOROOT/bin/go" build -trimpath -ldflags '-s -w' -o "$BENCHCTL_OUT/bin/go_ncruces" .
