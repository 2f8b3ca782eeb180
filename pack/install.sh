#!/bin/sh
# SPDX-License-Identifier: MIT
# Installs the tarball of a release: install.sh TARBALL [FOLDER]
#   TARBALL  a path or an https:// address of asamp-VERSION-linux-ARCH.tar.xz; SHA256SUMS is
#            read from the same place and verified first
#   FOLDER   new, empty, or an earlier installation, which is replaced (default
#            ~/.local/lib/asamp); no other folder is changed
# Needs tar, xz, sha256sum, and curl for an address.
set -eu
fail() { echo "install.sh: $*" >&2; exit 1; }

[ $# -ge 1 ] && [ $# -le 2 ] || fail "usage: install.sh TARBALL [FOLDER]"
tarball=$1 folder=${2:-$HOME/.local/lib/asamp} name=${1##*/}
case $(uname -m) in
x86_64) arch=x86_64 ;;
aarch64) arch=arm64 ;;
*) fail "there is no tarball for the processor $(uname -m); build from source" ;;
esac
case $name in
asamp-*-linux-"$arch".tar.xz) ;;
*) fail "'$name' is not asamp-VERSION-linux-$arch.tar.xz, the name for this machine" ;;
esac
for tool in tar xz sha256sum; do
  command -v "$tool" >/dev/null || fail "$tool is missing; install it and run this again"
done
if [ -e "$folder" ] && [ ! -x "$folder/bin/asamp" ] && [ -n "$(ls -A "$folder" 2>&1)" ]; then
  fail "'$folder' has other files; name a new or empty folder"
fi

work=$(mktemp -d)
trap 'rm -rf "$work" "$folder.new"' EXIT
case $tarball in
https://*)
  command -v curl >/dev/null || fail "curl is missing; install it and run this again"
  for file in "$name" SHA256SUMS; do
    curl -fsSL --proto '=https' -o "$work/$file" "${tarball%/*}/$file" ||
      fail "cannot download ${tarball%/*}/$file"
  done
  ;;
*://*) fail "'$tarball' is neither a path nor an https:// address" ;;
*)
  case $tarball in */*) from=${tarball%/*} ;; *) from=. ;; esac
  for file in "$name" SHA256SUMS; do
    cp "$from/$file" "$work/" || fail "cannot read $from/$file"
  done
  ;;
esac

line=$(grep -E "^[0-9a-f]{64}  $name\$" "$work/SHA256SUMS") || fail "SHA256SUMS has no line for $name; nothing was installed"
echo "$line" | (cd "$work" && sha256sum --check --status) ||
  fail "$name is damaged or was changed: its SHA-256 sum is not that of SHA256SUMS; nothing was installed"
mkdir -p "$(dirname "$folder")"
rm -rf "$folder.new"
mkdir "$folder.new"
tar -C "$folder.new" --strip-components=1 --no-same-owner -xJf "$work/$name"
version=$("$folder.new/bin/asamp" --version) || fail "asamp does not run on this machine; nothing was installed"
rm -rf "$folder"
mv "$folder.new" "$folder"
echo "$version is in $folder. To use it: export PATH=\"$folder/bin:\$PATH\""
