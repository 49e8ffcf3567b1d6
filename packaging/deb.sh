#!/usr/bin/env bash
# Builds target/debian/ioscape_*.deb: the program, its manual pages and completions. Needs `cargo install cargo-deb`.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo build --release --locked -p ioscape
dist=target/dist
rm -rf "$dist"
mkdir -p "$dist/man"
target/release/ioscape man "$dist/man"
for shell in bash zsh fish; do
  target/release/ioscape completions "$shell" > "$dist/ioscape.$shell"
done
cargo deb -p ioscape --no-build
