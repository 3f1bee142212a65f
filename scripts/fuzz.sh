#!/usr/bin/env bash
# Fuzzes every target for FUZZTIME each (default 30s).
set -euo pipefail
cd "$(dirname "$0")/.."
grep -rl --include='*_test.go' '^func Fuzz' . | while read -r file; do
  package=$(dirname "$file")
  sed -n 's/^func \(Fuzz[A-Za-z]*\).*/\1/p' "$file" | while read -r target; do
    echo "== $package $target"
    go test -run '^$' -fuzz "^$target\$" -fuzztime "${FUZZTIME:-30s}" "$package"
  done
done
