#!/usr/bin/env bash
# Installs what package-lock.json names into node_modules, if something else is there.
set -euo pipefail
cd "$(dirname "$0")/.."

installed=node_modules/.installed-lock.json
cmp -s package-lock.json $installed && exit 0
command -v npm >/dev/null || {
  echo "npm is not installed: scripts/install-test-deps.sh installs it." >&2
  exit 1
}
echo "installing what the clients are built with from npm …"
rm -f $installed
npm ci --no-audit --no-fund --loglevel=error
cp package-lock.json $installed
