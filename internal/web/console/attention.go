package console

import (
	"path"
	"slices"
	"strings"

	"ringback/internal/job"
)

// attention is one reason to look at files of a change first, with those files.
type attention struct {
	Why   string
	Files []changedFile
}

// veryLarge is the number of changed lines from which on a file is easily skimmed.
const veryLarge = 1000

// lockFiles are written by package managers. The packages that they name are downloaded and run.
var lockFiles = []string{
	"package-lock.json", "npm-shrinkwrap.json", "yarn.lock", "pnpm-lock.yaml", "bun.lock", "bun.lockb", "go.sum",
	"Cargo.lock", "Gemfile.lock",
	"composer.lock", "poetry.lock", "Pipfile.lock", "uv.lock", "pdm.lock", "mix.lock", "pubspec.lock",
	"packages.lock.json", "gradle.lockfile", "flake.lock", "deno.lock",
}

// attentions are the reasons to look twice, in order. A file is listed under each of its reasons.
var attentions = []struct {
	why  string
	ifIt func(f job.FileDiff) bool
}{
	{"Lock files", func(f job.FileDiff) bool { return slices.Contains(lockFiles, path.Base(f.Path)) }},
	{"Deleted", func(f job.FileDiff) bool { return f.Status == job.FileDeleted }},
	{"Another mode", func(f job.FileDiff) bool { return f.Mode != "" }},
	{"Very large", func(f job.FileDiff) bool { return f.Additions+f.Deletions >= veryLarge }},
}

func newAttention(files []changedFile) []attention {
	var all []attention
	add := func(why string, f changedFile) {
		if at := slices.IndexFunc(all, func(a attention) bool { return a.Why == why }); at >= 0 {
			all[at].Files = append(all[at].Files, f)
		} else {
			all = append(all, attention{why, []changedFile{f}})
		}
	}
	for _, f := range files {
		if f.Suspicious != "" {
			add(strings.ToUpper(f.Suspicious[:1])+f.Suspicious[1:], f)
		}
	}
	for _, a := range attentions {
		for _, f := range files {
			if a.ifIt(f.FileDiff) {
				add(a.why, f)
			}
		}
	}
	return all
}
