#!/bin/sh
# The standard library of a target that the compiler has not come with: the distribution's own package of the very same
# version for that architecture, fetched and verified by apt-get with lists of its own, and unpacked here. Nothing of this
# computer's packages or architectures is changed.
set -eu
[ ! -d "$("$RUSTC" --print sysroot)/lib/rustlib/$RUST_TARGET/lib" ] || exit 0
. /etc/os-release
case $BENCHCTL_ARCH in aarch64) debian_arch=arm64 ;; x86_64) debian_arch=amd64 ;; *) echo "no Debian name for $BENCHCTL_ARCH" >&2; exit 1 ;; esac
package=$(dpkg-query -S "$(readlink -f "$RUSTC")" | cut -d: -f1)
version=$(dpkg-query -W -f '${Version}' "$package")
case $package in
  rustc) std=libstd-rust-dev ;;
  rustc-*) std=libstd-rust-${package#rustc-}-dev ;;
  *) echo "$RUSTC comes from $package, which has no package of the standard library for $BENCHCTL_ARCH" >&2; exit 1 ;;
esac
case $ID in
  debian) keys=/usr/share/keyrings/debian-archive-keyring.gpg
    sources="http://deb.debian.org/debian $VERSION_CODENAME main
http://deb.debian.org/debian-security $VERSION_CODENAME-security main" ;;
  ubuntu) keys=/usr/share/keyrings/ubuntu-archive-keyring.gpg
    sources="http://ports.ubuntu.com/ubuntu-ports $VERSION_CODENAME main universe
http://ports.ubuntu.com/ubuntu-ports $VERSION_CODENAME-updates main universe
http://ports.ubuntu.com/ubuntu-ports $VERSION_CODENAME-security main universe" ;;
  *) echo "$PRETTY_NAME is not known here: rustup target add $RUST_TARGET" >&2; exit 1 ;;
esac
cd "$BENCHCTL_WORK"
mkdir -p lists/partial archives/partial state
: >status
echo "$sources" | sed "s|^|deb [arch=$debian_arch signed-by=$keys] |" >sources.list
apt_get() {
  apt-get -q -o APT::Sandbox::User="$(id -un)" -o Dir::Etc::SourceList="$PWD/sources.list" -o Dir::Etc::SourceParts=/dev/null \
    -o Dir::State="$PWD/state" -o Dir::State::Lists="$PWD/lists" -o Dir::State::status="$PWD/status" -o Dir::Cache="$PWD" \
    -o Dir::Cache::archives="$PWD/archives" -o APT::Architectures="$debian_arch" "$@"
}
apt_get update
apt_get download "$std:$debian_arch=$version" || {
  echo "$std $version for $debian_arch is no longer offered: apt-get update && apt-get upgrade, so that $package is current" >&2
  exit 1
}
dpkg -x "${std}"_*.deb sysroot.new
# A sysroot is the folder above lib/; Ubuntu keeps that of a compiler in a folder of its own.
mv "$(dirname "$(dirname "$(dirname "$(find sysroot.new -type d -path "*/rustlib/$RUST_TARGET")")")")" "$BENCHCTL_OUT/sysroot"
rm -rf sysroot.new archives lists ./*.deb
