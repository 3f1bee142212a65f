#!/usr/bin/env bash
# Installs what the tests need, if it is missing: redis-server (Debian package),
# and the Claude CLI (npm package, into .tools).
set -euo pipefail
cd "$(dirname "$0")/.."

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; else sudo "$@"; fi
}

missing=()
command -v redis-server >/dev/null || missing+=(redis-server)
command -v git >/dev/null || missing+=(git)
command -v curl >/dev/null || missing+=(curl)
command -v gcc >/dev/null || missing+=(gcc libc6-dev) # the race detector needs cgo
command -v npm >/dev/null || missing+=(npm)
if [ ${#missing[@]} -gt 0 ]; then
  command -v apt-get >/dev/null || {
    echo "The tests need ${missing[*]}: install them with your package manager." >&2
    exit 1
  }
  echo "installing ${missing[*]} …"
  as_root apt-get update -qq
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "${missing[@]}" >/dev/null
fi

if ! cmp -s scripts/claude-cli/package-lock.json .tools/package-lock.json || [ ! -x .tools/node_modules/.bin/claude ]; then
  echo "installing the Claude CLI from npm …"
  mkdir -p .tools
  cp scripts/claude-cli/package.json .tools/
  cp scripts/claude-cli/package-lock.json .tools/installing.json
  (cd .tools && mv installing.json package-lock.json && npm ci --no-audit --no-fund --loglevel=error) || {
    rm -f .tools/package-lock.json
    exit 1
  }
fi
.tools/node_modules/.bin/claude --version
