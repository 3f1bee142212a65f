#!/usr/bin/env bash
# Installs what make test-deploy needs, on Debian or Ubuntu and as root: Podman and its tools, and a small Debian with
# systemd, from which the images are built, because no registry is asked. Quick when all is there.
set -euo pipefail
cd "$(dirname "$0")/.."

[ "$(id -u)" = 0 ] || { echo "make test-deploy runs containers as root: run it as root" >&2; exit 1; }
missing=()
for program in podman buildah runc debootstrap podman-compose apparmor_parser; do
  command -v $program >/dev/null || missing+=("${program/apparmor_parser/apparmor}")
done
if [ ${#missing[@]} -gt 0 ]; then
  echo "installing ${missing[*]} …"
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "${missing[@]}" >/dev/null
fi
# Podman takes the users of user namespaces from there.
for file in /etc/subuid /etc/subgid; do
  grep -qs '^containers:' $file || echo containers:2147483647:2147483648 >> $file
done

base=.tools/debian.tar
if [ ! -e $base ]; then
  echo "making a Debian for the images …"
  mkdir -p .tools
  dir=$(mktemp -d)
  trap 'rm -rf "$dir"' EXIT
  debootstrap --variant=minbase \
    --include=bubblewrap,ca-certificates,curl,dbus,git,openssl,redis-server,systemd,systemd-sysv bookworm "$dir/root" >"$dir/log" ||
    { cat "$dir/log" >&2; exit 1; }
  tar -C "$dir/root" -cf $base.new .
  mv $base.new $base
fi
