#!/bin/sh
# Prints how large the project is: what is shipped, by folder, and what tests it.
set -eu
cd "$(dirname "$0")/.."

go_files() { git ls-files -- "$@" | grep '\.go$' || true; }
lines() { xargs -r cat | wc -l; }
shipped() { go_files "$@" | grep -v -e '_test\.go$' -e '^test/' -e '/storetest/' -e '/testdata/' -e '^examples/' || true; }

for dir in cmd client internal/*; do
	printf '%8d  %s\n' "$(shipped "$dir" | lines)" "$dir"
done
printf '%8d  shipped lines of Go\n' "$(shipped . | lines)"
printf '%8d  lines of tests and their helpers\n' "$(go_files . | grep -e '_test\.go$' -e '^test/' -e '/storetest/' | lines)"
printf '%8d  lines of Lua\n' "$(git ls-files -- '*.lua' | lines)"
printf '%8d  words of documentation\n' "$(git ls-files -- '*.md' | grep -v -e testdata -e '^prompts/' | xargs cat | wc -w)"
printf '%8d  exceptions from linters\n' "$(shipped . | xargs grep -ho '//nolint' | wc -l)"
