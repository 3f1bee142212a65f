#!/usr/bin/env bash
# Installs what the tests need, if it is missing: a few Debian packages, the Claude
# CLI, the AI SDK, validators and axe (npm packages, into .tools), and what the clients
# are built with (into node_modules). Quick when all is there.
set -euo pipefail
cd "$(dirname "$0")/.."

fail() {
  echo "$1" >&2
  exit 1
}

missing=()
need() { command -v "$1" >/dev/null || missing+=("${@:2}"); }
need redis-server redis-server
need git git
need curl curl ca-certificates
need python3 python3 # attacks are written in it
need bwrap bubblewrap # what Claude might run is run in it
need ip iproute2 # several hosts are network namespaces
need nsenter util-linux
need jq jq # the README shows it
[ "${CGO_ENABLED:-}" != 1 ] || need gcc gcc libc6-dev # the race detector needs cgo
need npm npm
need chromium-headless-shell chromium-headless-shell # the console is tested in it
need caddy caddy # the proxy of the docs
need tmux tmux # what the CLI prints is read off a terminal

as_root=()
[ "$(id -u)" = 0 ] || as_root=(sudo)

install_packages() {
  local advice="The tests need ${missing[*]}: install them with your package manager, then run this again."
  command -v apt-get >/dev/null || fail "$advice"
  [ ${#as_root[@]} = 0 ] || command -v sudo >/dev/null || fail "$advice (No sudo here to do it for you.)"
  echo "installing ${missing[*]} …"
  "${as_root[@]}" apt-get update -qq || fail "$advice (apt-get update failed.)"
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "${missing[@]}" >/dev/null || fail "$advice"
}
[ ${#missing[@]} = 0 ] || install_packages

claude=.tools/node_modules/.bin/claude

# The copy of the lock file in .tools says what is installed there: it comes last.
install_npm() {
  echo "installing the Claude CLI, the AI SDK, validators and axe from npm …"
  mkdir -p .tools
  rm -f .tools/installed-lock.json
  cp scripts/npm/package.json scripts/npm/package-lock.json .tools/
  # The package's install script puts the binary for this machine in place.
  (cd .tools && npm ci --ignore-scripts=false --no-audit --no-fund --loglevel=error) ||
    fail "npm could not install them (see above). Tests that need it are skipped without it, except where CI is set."
  $claude --version >/dev/null || fail "The Claude CLI is installed in .tools, but does not run here."
  cp scripts/npm/package-lock.json .tools/installed-lock.json
}
[ -x $claude ] && cmp -s scripts/npm/package-lock.json .tools/installed-lock.json || install_npm

scripts/install-npm-packages.sh

echo "test dependencies: $(redis-server --version | cut -d' ' -f1-3), Claude CLI $($claude --version)"
