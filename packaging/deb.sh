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
# Debian asks for a changelog of the package beside that of the program.
date=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}
version=$(target/release/ioscape --version | sed 's/^ioscape \([^ ]*\).*/\1/')
cat > "$dist/changelog" <<END
ioscape ($version-1) unstable; urgency=medium

  * Version $version.

 -- ioscape contributors <>  $(date -R -u -d "@$date")
END
cargo deb -p ioscape --no-build
