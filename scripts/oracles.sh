#!/usr/bin/env bash
# Gets the real Kubernetes programs that judge our results: kube-apiserver, kube-controller-manager, kubectl, etcd,
# helm and gojq. An existing binary of the right version (in $KUBEBUILDER_ASSETS or on PATH) is linked; what is missing
# is built once from the Go module proxy into a cache outside the checkout. Needs Go; about six minutes on two cores.
# Usage: scripts/oracles.sh          prints the directory on its last line
set -euo pipefail
kubernetes=1.36.3 etcd=3.6.8 helm=3.21.4
out=${PODSMITH_ORACLES:-$HOME/.cache/podsmith-oracles}
mkdir -p "$out"

# adopt NAME VERSION_FLAG EXPECTED: link a program that is there already, if it says the expected version.
adopt() {
  local name=$1 flag=$2 expected=$3 found
  [ -x "$out/$name" ] && return 0
  for found in "${KUBEBUILDER_ASSETS:-/nonexistent}/$name" "$(command -v "$name" || true)"; do
    if [ -x "$found" ] && "$found" $flag 2>&1 | grep -qF "$expected"; then ln -sf "$found" "$out/$name"; return 0; fi
  done
  return 1
}

missing=0
adopt kube-apiserver --version "v$kubernetes" || missing=1
adopt kube-controller-manager --version "v$kubernetes" || missing=1
adopt kubectl "version --client" "v$kubernetes" || missing=1
adopt etcd --version "$etcd" || missing=1
adopt helm "version --short" "v$helm" || missing=1
adopt gojq --version "gojq" || missing=1
if [ $missing = 0 ]; then echo "$out"; exit 0; fi
command -v go >/dev/null || { echo "skipped: oracles: no Go toolchain here"; exit 1; }

work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
export GOFLAGS=-mod=mod
if ! { [ -x "$out/kube-apiserver" ] && [ -x "$out/kubectl" ] && [ -x "$out/kube-controller-manager" ]; }; then
  mkdir "$work/kubernetes"; cd "$work/kubernetes"
  printf 'module oracle\ngo 1.26.0\nrequire k8s.io/kubernetes v%s\n' $kubernetes > go.mod
  go mod download k8s.io/kubernetes@v$kubernetes
  # The module replaces its staging repositories by folders; outside of it they are modules of their own.
  grep -E '^\s+k8s.io/[a-z-]+ => ./staging' "$(go env GOMODCACHE)/k8s.io/kubernetes@v$kubernetes/go.mod" \
    | awk -v minor="${kubernetes#1.}" '{print "replace " $1 " => " $1 " v0." minor}' >> go.mod
  version=k8s.io/component-base/version
  flags="-s -w -X $version.gitVersion=v$kubernetes -X $version.gitMajor=1 -X $version.gitMinor=36"
  for program in kube-apiserver kubectl kube-controller-manager; do
    [ -x "$out/$program" ] || go build -trimpath -ldflags "$flags" -o "$out/$program" k8s.io/kubernetes/cmd/$program
  done
fi

# build NAME MODULE VERSION PACKAGE [LDFLAGS]
build() {
  [ -x "$out/$1" ] && return
  mkdir -p "$work/$1"; cd "$work/$1"
  printf 'module oracle\ngo 1.26.0\n' > go.mod
  go get "$2@$3" && go build -trimpath -ldflags "-s -w ${5:-}" -o "$out/$1" "$4"
}
chart=helm.sh/helm/v3/pkg/chartutil
build etcd go.etcd.io/etcd/server/v3 v$etcd go.etcd.io/etcd/server/v3
build helm helm.sh/helm/v3 v$helm helm.sh/helm/v3/cmd/helm \
  "-X helm.sh/helm/v3/internal/version.version=v$helm -X $chart.k8sVersionMajor=1 -X $chart.k8sVersionMinor=36"
build gojq github.com/itchyny/gojq latest github.com/itchyny/gojq/cmd/gojq
echo "$out"
