#!/usr/bin/env bash
# Builds a release of the checked-out commit into dist/ (or $OUT): archives, packages for Debian, lists
# of the modules in each binary, and the checksums of all.
#
# The same commit, built with the same version of Go, gives the same bytes: nothing depends on the time,
# the directory, the user, the settings of Go or files that are not committed.
set -euo pipefail
cd "$(dirname "$0")/.."

fail() {
  echo "$1" >&2
  exit 1
}

# Of the environment, only these are used: where things are, and how they are reached.
if [ -z "${RELEASE_ENVIRONMENT:-}" ]; then
  kept=()
  for name in PATH HOME TMPDIR OUT PLATFORMS HTTP_PROXY HTTPS_PROXY NO_PROXY SSL_CERT_FILE; do
    [ -z "${!name:-}" ] || kept+=("$name=${!name}")
  done
  for name in GOCACHE GOMODCACHE GOPROXY GOSUMDB GONOSUMDB GOTOOLCHAIN; do
    kept+=("$name=$(go env $name)")
  done
  exec env -i "${kept[@]}" RELEASE_ENVIRONMENT=1 LC_ALL=C TZ=UTC GOENV=off GOFLAGS=-trimpath CGO_ENABLED=0 scripts/release.sh
fi
umask 022
platforms=${PLATFORMS:-linux/amd64 linux/arm64 darwin/amd64 darwin/arm64}
out=$(mkdir -p "${OUT:-dist}" && cd "${OUT:-dist}" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

for program in git go jq dpkg-deb; do
  command -v $program >/dev/null || fail "$program is not installed: a release needs it."
done
tar --version | grep -q GNU || fail "tar is not GNU tar: a release needs that one."
[ -z "$(git status --porcelain)" ] || echo "note: changes that are not committed are not part of the release" >&2

# A clone holds what is committed and nothing else. Go takes the version from its tags.
git clone --quiet --shared --no-checkout --config core.autocrlf=false --config core.attributesFile=/dev/null . "$work/source"
git -C "$work/source" checkout --quiet --detach "$(git rev-parse HEAD)"
cd "$work/source"
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH

build() { # PLATFORM: writes $work/OS_ARCH/ringback
  local binary=$work/${1/\//_}/ringback
  [ -x "$binary" ] || GOOS=${1%/*} GOARCH=${1#*/} go build -buildvcs=true -ldflags=-s -o "$binary" ./cmd/ringback
}

host=$(go env GOHOSTOS)/$(go env GOHOSTARCH)
build "$host"
ringback=$work/${host/\//_}/ringback
version=$("$ringback" version --output json | jq -r '.version | ltrimstr("v")')

# What is the same on each platform.
share=$work/share
mkdir -p "$share/completions" "$share/man"
"$ringback" completion bash >"$share/completions/ringback.bash"
"$ringback" completion zsh >"$share/completions/_ringback"
"$ringback" completion fish >"$share/completions/ringback.fish"
go test -vet=off -ldflags=-s -count=1 -run '^TestEachCommandHasAManualPage$' ./cmd/ringback -manual "$share/man" >/dev/null
cp -R README.md CHANGELOG.md docs "$share/"
cp .env.example "$share/settings"
[ ! -e LICENSE ] || cp LICENSE "$share/"
cp -R deploy "$share/"
unit=$share/deploy/ringback.service

pack() { # PLATFORM: writes the archive and the list of modules
  local name=ringback_${version}_${1/\//_}
  mkdir "$work/$name"
  cp -R "$share/." "$work/${1/\//_}/ringback" "$work/$name/"
  tar --format=gnu --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" -C "$work" -cf - "$name" |
    gzip -n >"$out/$name.tar.gz"
  go version -m -json "$work/$name/ringback" | jq -f scripts/sbom.jq >"$out/$name.sbom.json"
}

package() { # ARCH: writes the package for Debian
  local root=$work/deb_$1 size
  install -D -m 755 "$work/linux_$1/ringback" "$root/usr/bin/ringback"
  install -D -m 644 "$share/completions/ringback.bash" "$root/usr/share/bash-completion/completions/ringback"
  install -D -m 644 "$share/completions/_ringback" "$root/usr/share/zsh/vendor-completions/_ringback"
  install -D -m 644 "$share/completions/ringback.fish" "$root/usr/share/fish/vendor_completions.d/ringback.fish"
  install -d "$root/usr/share/doc/ringback"
  cp -R "$share"/[A-Z]* "$share/docs" "$share/deploy" "$share/settings" "$root/usr/share/doc/ringback/"
  install -D -m 644 -t "$root/usr/share/man/man1" "$share"/man/*
  gzip -9 -n "$root"/usr/share/man/man1/*
  install -D -m 644 "$unit" "$root/lib/systemd/system/ringback.service"
  install -D -m 644 scripts/deb/settings.conf "$root/lib/systemd/system/ringback.service.d/settings.conf"
  install -D -m 600 -t "$root/etc/ringback" scripts/deb/ringback.env

  install -D -m 755 -t "$root/DEBIAN" scripts/deb/postinst scripts/deb/prerm scripts/deb/postrm
  echo /etc/ringback/ringback.env >"$root/DEBIAN/conffiles"
  (cd "$root" && find usr lib -type f -print0 | sort -z | xargs -0 md5sum) >"$root/DEBIAN/md5sums"
  size=$(find "$root" -type f -printf '%s\n' | awk '{ bytes += $1 } END { print int(bytes / 1024) }')
  # A hyphen would begin a revision of the package. A tilde comes before the end: 1.2.0~rc.1 is before 1.2.0.
  sed -e "s/@version@/${version//-/\~}/" -e "s/@arch@/$1/" -e "s/@size@/$size/" \
    -e "s/@maintainer@/$(git log -1 --format='%cn <%ce>')/" scripts/deb/control >"$root/DEBIAN/control"
  dpkg-deb --root-owner-group -Zgzip -z6 --build "$root" "$out/ringback_${version}_$1.deb" >/dev/null
}

rm -f "$out"/ringback_* "$out/SHA256SUMS"
for platform in $platforms; do
  build "$platform"
  pack "$platform"
  [ "${platform%/*}" != linux ] || package "${platform#*/}"
done
(cd "$out" && sha256sum ringback_* >SHA256SUMS && cat SHA256SUMS)
