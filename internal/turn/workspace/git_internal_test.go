package workspace

import (
	"os"
	"path/filepath"
	"testing"

	"ringback/test/must"
)

// What git cannot read because of this machine makes it fail: git alone would leave the file out, or add those
// to be ignored, and report success.
func TestWhatGitDoesWithoutBecauseOfThisMachine(t *testing.T) {
	t.Parallel()
	for output, missed := range map[string]bool{
		"": false,
		"error: open(\"a\"): Permission denied\nerror: unable to index file 'a'\nfatal: adding files failed": false,
		"error: open(\"a\"): Too many open files in system\nerror: unable to index file 'a'":                 true,
		"error: open(\"a): Permission denied\"): Input/output error":                                         true,
		"error: open(\"a): Input/output error\"): Permission denied":                                         false,
		"error: open(\"a\"): Permission denied\nerror: open(\"b\"): Stale file handle":                       true,
		"error: readlink(\"a\"): Input/output error":                                                         true,
		"error: read error while indexing a: Input/output error":                                             true,
		"error: read error while indexing a":                                                                 true,
		"error: short read while indexing a":                                                                 false,
		"warning: could not open directory 'd/': Permission denied":                                          false,
		"warning: could not open directory 'd/': No such file or directory":                                  false,
		"warning: could not open directory 'd/': Cannot allocate memory":                                     true,
		"warning: unable to access '.gitignore': Input/output error":                                         true,
		"warning: unable to access '.gitignore': Too many levels of symbolic links":                          false,
		"remote: error: open(\"a\"): Input/output error":                                                     false,
		"error: some/dir does not have a commit checked out\nfatal: adding files failed":                     false,
	} {
		must.Equal(t, missed, missedIn(output) != "", output)
	}
}

// A remote is not to blame for a git that cannot store on this machine what it gets from there.
func TestARemoteIsNotToBlameForAFullDisk(t *testing.T) {
	t.Parallel()
	for output, own := range map[string]bool{
		"fatal: write error: No space left on device\nfatal: fetch-pack: invalid index-pack output":         true,
		"error: unable to write file .git/objects/0a: Disk quota exceeded\nfatal: unpack failed":            true,
		"fatal: could not create work tree dir 'service': Read-only file system":                            true,
		"remote: fatal: write error: No space left on device\nerror: remote unpack failed":                  false,
		"fatal: unable to access 'https://example.com/': Could not resolve host: No space left on device x": false,
		"fatal: Authentication failed for 'https://example.com/'":                                           false,
	} {
		dir := t.TempDir()
		git := filepath.Join(dir, "git-refused")
		must.OK(t, os.WriteFile(git, []byte("#!/bin/sh\ncat >&2 <<'END'\n"+output+"\nEND\nexit 128\n"), 0o700))
		g := remote([]string{"PATH=" + dir + ":" + os.Getenv("PATH")}, dir)
		_, err := g.run(t.Context(), "refused") // git runs git-refused
		must.Fail(t, err, output)
		must.Equal(t, own, isOwn(err), output)
	}
}
