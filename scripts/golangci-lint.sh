#!/usr/bin/env bash
# Runs golangci-lint. It is built once per version and machine, into the user's cache
# directory, so that a fresh clone or an empty Go build cache does not build it again.
set -euo pipefail
# renovate: datasource=go depName=github.com/golangci/golangci-lint/v2
version=v2.15.0
export GOGC=${GOGC:-300} # it collects less garbage while it is built and runs

dir=${XDG_CACHE_HOME:-${HOME:-/tmp}/.cache}/ringback/golangci-lint-$version-$(go env GOVERSION)
if ! [ -x "$dir/golangci-lint" ]; then
  echo "building golangci-lint $version into $dir …" >&2
  building=$(mktemp -d)
  trap 'rm -rf "$building"' EXIT
  GOBIN=$building go install -ldflags "-s -w" "github.com/golangci/golangci-lint/v2/cmd/golangci-lint@$version"
  mkdir -p "$dir"
  mv "$building/golangci-lint" "$dir/golangci-lint.$$"
  mv "$dir/golangci-lint.$$" "$dir/golangci-lint" # two clones may build it at the same time
fi
[ "${1:-}" = --install ] || exec "$dir/golangci-lint" "$@"
