#!/usr/bin/env bash
# Plays a newcomer: clone, install, doctor, evaluate for a minute, look at the page, predict, compare, uninstall.
# usage: tests/newcomer.sh [CARGO-INSTALL-OPTION...], such as --debug for a faster build; fails at the first step that does.
#        tests/newcomer.sh --built PROGRAM   takes a program that was built already, and leaves out clone, install and uninstall.
set -euo pipefail
source=$(cd "$(dirname "$0")/.." && pwd)
if [ "${1:-}" = --built ]; then
  built=$(realpath "$2")
  # Beside the program, which is on a disk if anything is: the folder for temporary files may be in memory and small.
  home=$(mktemp -d -p "$(dirname "$built")")
else
  built=""
  home=$(mktemp -d)
fi
trap 'rm -rf "$home"' EXIT
step() { printf -- '--- %s s: %s\n' "$SECONDS" "$1"; }

if [ -n "$built" ]; then
  mkdir -p "$home/root/bin"
  ln -s "$built" "$home/root/bin/ioscape"
else
  step "clone"
  git clone -q "$source" "$home/ioscape"
  cd "$home/ioscape"
  step "install"
  cargo install --locked --quiet --path crates/cli --root "$home/root" "$@"
fi
PATH=$home/root/bin:$PATH
ioscape --version
mkdir "$home/data"
cd "$home"
step "doctor"
ioscape doctor data
step "evaluate"
ioscape evaluate data --dry-run
ioscape evaluate data --budget 1m --max-unique-bytes 256M -o here.ioscape.json --html here.html
[ -z "$(ls -A data)" ] || { echo "something was left in data" >&2; exit 1; }
step "page"
browser=$(command -v chromium || command -v google-chrome || true)
if [ -n "$browser" ]; then
  "$browser" --headless --no-sandbox --disable-gpu --user-data-dir="$home/profile" --enable-logging=stderr \
    --dump-dom "file://$home/here.html" >page.txt 2>console.txt
  grep -q 'aria-pressed="true"' page.txt
  if grep CONSOLE console.txt; then exit 1; fi
else
  echo "SKIPPED: there is no Chromium, so the page was not opened"
fi
step "predict"
ioscape predict here.ioscape.json --workloads today
step "compare"
ioscape compare here.ioscape.json here.ioscape.json
ioscape report here.ioscape.json here.ioscape.json -o both.html
if [ -z "$built" ]; then
  step "uninstall"
  cargo uninstall --quiet --root "$home/root" ioscape
  [ ! -e "$home/root/bin/ioscape" ]
fi
step "done"
