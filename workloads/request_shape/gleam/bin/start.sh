#!/bin/sh
# bin/gleam_sqlite and bin/gleam_sqlite_sdio: start the release's own Erlang runtime system.
set -eu
name=$(basename "$0")
ROOTDIR=$(cd "$(dirname "$0")/.." && pwd)
BINDIR=$(echo "$ROOTDIR"/erts-*/bin)
# The runtime wants a home; it is not to leave a dump of its memory among the results.
export ROOTDIR BINDIR EMU=beam PROGNAME="$name" HOME="${HOME:-/}" ERL_CRASH_DUMP_BYTES=0
schedulers=''
case $name in *_sdio) schedulers="+SDio $(nproc)" ;; esac
# What the runtime has to say must not get among the results either.
# shellcheck disable=SC2086
exec "$BINDIR/erlexec" $schedulers -boot "$ROOTDIR/releases/1.0.0/start" -noshell \
  -kernel logger '[{handler,default,logger_std_h,#{config=>#{type=>standard_error}}}]' \
  -runner "$name" -s gleam_sqlite main -extra "$@"
