#!/usr/bin/env bash
# Runs all tests on two cores in a few minutes. What it leaves out (the race detector, some
# cases of expensive tests) runs under make race and make faults: CONTRIBUTING.md has the table.
# With RACE_SERVERS, tests and servers are built with the race detector.
#
# The server of the end-to-end tests is built once. go vet is a part of make lint.
set -euo pipefail
cd "$(dirname "$0")/.."

# The tests create and remove many small files. Kept in memory, these take a quarter of the
# processor time less. The mount is seen by the tests only, and ends with them.
memory=$(awk '/^MemAvailable:/ { print int($2 / 1048576) }' /proc/meminfo 2>/dev/null || echo 0) # GiB
if [ -z "${TESTS_IN_MEMORY:-}" ] && [ "${memory:-0}" -ge 10 ] && unshare --mount mount -t tmpfs none /mnt 2>/dev/null; then
  TESTS_IN_MEMORY=1 exec unshare --mount "$PWD/scripts/test.sh"
fi

work=$(mktemp -d)
trap 'umount -l "$work" 2>/dev/null; rm -rf "$work"' EXIT
[ -z "${TESTS_IN_MEMORY:-}" ] || mount -t tmpfs -o size=8g none "$work"
chmod 755 "$work" # some tests run the server as another user
mkdir -m 1777 "$work/tmp"
export TMPDIR=$work/tmp
[ "${memory:-0}" -lt 10 ] || export GOGC=400 # compilers, linkers and tests collect less garbage
race=()
[ -z "${RACE_SERVERS:-}" ] || race=(-race)
go build "${race[@]}" -o "$work/ringback" ./cmd/ringback
export RINGBACK_BINARY=$work/ringback

# Expensive tests run some of their cases, chosen by the commit.
export TEST_SAMPLE=${TEST_SAMPLE-$(git rev-parse --short=7 HEAD 2>/dev/null || echo none)}
echo "cases of TEST_SAMPLE=$TEST_SAMPLE"

# Many tests wait for something else than the processor: more of them run than there are cores.
run() { go test "${race[@]}" -vet=off -timeout 60m "$@" | tee -a "$work/output"; }
status=0
# Packages start in the order of their names here: those that wait longest come first.
waiting=(./test/machines ./test/upgrade ./test/people ./test/code ./test/attack ./test/fault ./test/jobs ./test/money ./test/docs)
browsers='^ringback/test/(clients|console)$'
# shellcheck disable=SC2046 # names of packages hold no spaces
run -p 2 -parallel 6 "${waiting[@]}" $(go list ./... | grep -vE "$browsers") || status=$?
# Chromium breaks off what it loads when a network of the machine comes or goes, as other tests
# have them do (ERR_NETWORK_CHANGED).
run -p 2 -parallel 4 ./test/console ./test/clients || status=$?
# What failed, once more and without logs: it is far above otherwise.
[ "$status" = 0 ] || { echo && echo "Failed:" && grep -E '^ *(--- FAIL|panic:|FAIL)|^ +[a-z0-9_]+_test\.go:[0-9]+:' "$work/output" | grep -v 'server log, ' | cut -c1-500; }
exit "$status"
