#!/bin/sh
# Finds gleam, Erlang and rebar3. What Gleam generates needs Erlang/OTP 27.
set -eu
oldest=27
missing=''
gleam=$(PATH="$PATH:${HOME:-}/.local/bin" command -v gleam) ||
  missing="the Gleam compiler is missing, which no package registry has: get it from the Gleam project's releases and put it on the PATH"
otp=$(erl -noshell -eval 'io:put_chars(erlang:system_info(otp_release)), halt().' 2>/dev/null) || otp=0
if [ "$otp" -lt $oldest ]; then
  found=''
  [ "$otp" = 0 ] || found=" (found only $otp)"
  missing="${missing:+$missing; }Erlang/OTP $oldest or newer is missing$found: apt-get install erlang-nox erlang-dev (Debian 13; those of Debian 12 and Ubuntu 24.04 are too old)"
fi
command -v rebar3 >/dev/null || missing="${missing:+$missing; }rebar3 is missing: apt-get install rebar3"
[ -z "$missing" ] || { echo "$missing. Packages come from Hex, or are brought along: request_shape/gleam/README.md" >&2; exit 1; }
echo "GLEAM=$gleam"
echo "GLEAM_VERSION=$("$gleam" --version)"
echo "OTP_VERSION=$otp"
