#!/usr/bin/env bash
# Runs every fuzz target for SECONDS (default 20), starting from its seeds. Needs a nightly toolchain and cargo-fuzz.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${1:-20}
cargo +nightly --version >/dev/null 2>&1 || { echo "skipped: fuzz: no nightly toolchain"; exit 0; }
if ! cargo fuzz --version >/dev/null 2>&1; then
  cargo install --quiet --locked cargo-fuzz || { echo "skipped: fuzz: cargo-fuzz could not be installed"; exit 0; }
fi
for target in $(cd fuzz/fuzz_targets && ls *.rs | sed 's/\.rs$//'); do
  mkdir -p "fuzz/corpus/$target"
  echo "== fuzz $target for ${seconds}s"
  cargo +nightly fuzz run --sanitizer none "$target" "fuzz/corpus/$target" "fuzz/seeds/$target" -- \
    -max_total_time="$seconds" -max_len=65536 -timeout=10 -rss_limit_mb=4096 -verbosity=0 -print_final_stats=1 2>&1 \
    | grep -E 'stat::number_of_executed_units|ERROR|panicked|SUMMARY|error' || true
  test "${PIPESTATUS[0]}" = 0
done
