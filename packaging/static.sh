#!/usr/bin/env bash
# Builds a binary that needs no library of the system, and runs it in an empty root (as root, or it says that it did not).
# usage: packaging/static.sh [TARGET]; x86_64-unknown-linux-musl needs `rustup target add` of it first.
set -euo pipefail
cd "$(dirname "$0")/.."
target=${1:-$(rustc -vV | sed -n 's/^host: //p')}
RUSTFLAGS="-C target-feature=+crt-static" cargo build --release --locked -p ioscape --target "$target"
binary=target/$target/release/ioscape
if [ "$(id -u)" != 0 ]; then
  echo "SKIPPED: not root, so $binary was not tried in an empty root" >&2
  exit 0
fi
empty=$(mktemp -d)
trap 'rm -r "$empty"' EXIT
cp "$binary" "$empty/ioscape"
chroot "$empty" /ioscape --version
chroot "$empty" /ioscape run / --unique-bytes 1M --seconds 1 >"$empty/run.txt"
grep -q IOPS "$empty/run.txt"
echo "$binary runs in an empty root"
