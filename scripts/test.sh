#!/usr/bin/env bash
# Installs what the tests need on Debian or Ubuntu, then runs every check. What cannot be installed is reported and
# the tests that need it skip themselves by name. Usage: scripts/test.sh [--no-install]
set -euo pipefail
cd "$(dirname "$0")/.."

install() {
  command -v apt-get >/dev/null || { echo "skipped: install: no apt-get here; install podman, haproxy, cc by hand"; return; }
  [ "$(id -u)" = 0 ] || { echo "skipped: install: not root; install podman, haproxy, cc by hand"; return; }
  local missing=()
  local package
  for package in gcc libc6-dev podman runc netavark aardvark-dns iptables haproxy busybox-static openssl; do
    dpkg -s "$package" >/dev/null 2>&1 || missing+=("$package")
  done
  [ ${#missing[@]} = 0 ] && return
  echo "installing: ${missing[*]}"
  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null \
    || echo "skipped: install: ${missing[*]} could not all be installed"
}

if [ "${1:-}" != --no-install ]; then
  install
  scripts/oracles.sh || echo "skipped: oracles: the real Kubernetes programs could not be built; tests that need them skip by name"
fi

rustup component list --installed 2>/dev/null | grep -q clippy || rustup component add clippy rustfmt 2>/dev/null || true
echo "== format"; cargo fmt --all --check
echo "== lint";   cargo clippy --workspace --all-targets --quiet -- -D warnings
echo "== test";   cargo test --workspace --quiet
