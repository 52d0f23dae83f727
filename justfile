# The menu. `just` alone lists it.
default:
    @just --list

# Everything that must pass before a change lands.
test:
    ./scripts/test.sh

# The quick loop: no installs, no oracles.
check:
    ./scripts/test.sh --no-install

# The real Kubernetes programs used as judges in tests and benchmarks.
oracles:
    ./scripts/oracles.sh

# Licences, advisories, duplicate versions.
deny:
    cargo deny check

# Us and the peers side by side; see docs/benchmarks.md.
bench *args:
    cargo run --release -p podsmith-bench -- {{args}}

# Each fuzz target for SECONDS (needs nightly and cargo-fuzz).
fuzz seconds="60":
    ./scripts/fuzz.sh {{seconds}}
