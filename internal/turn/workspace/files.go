package workspace

import (
	"fmt"
	"path"
	"strconv"
	"strings"
	"unicode/utf8"

	"ringback/internal/job"
	"ringback/internal/text/lazy"
)

// changed is a changed file with the data needed to read its patch.
type changed struct {
	job.FileDiff
	// sections is the number of patches that git writes for it: two if a file became a link, or the
	// reverse.
	sections int
	// secret is true if an added line looks like a secret.
	secret bool
	// garbled is true if a line of its patch is no UTF-8.
	garbled bool
	// pieced is true if a line of its patch is so long that it is shown in pieces.
	pieced  bool
	symlink bool
}

// link is git's mode of a commit in place of a file: another repository.
const link = "160000"

const modeArrow = "→"

// sectionsOf returns the number of patches that git writes for a file: two if its type, the first
// half of its mode, has changed.
func sectionsOf(f job.FileDiff) int {
	before, after, moded := strings.Cut(f.Mode, modeArrow)
	if moded && before[:len(before)/2] != after[:len(after)/2] {
		return 2
	}
	return 1
}

// parseRaw parses the output of "git diff-tree --raw -z".
func parseRaw(text string) []*changed {
	fields := strings.Split(text, "\x00")
	var files []*changed
	for i := 0; i+1 < len(fields); {
		meta := strings.Fields(strings.TrimPrefix(fields[i], ":"))
		if len(meta) < 5 {
			break
		}
		f := &changed{}
		f.Repository, f.symlink = meta[1] == link, meta[1] == "120000"
		f.Path = fields[i+1]
		i += 2
		switch meta[4][0] {
		case 'A':
			f.Status = job.FileAdded
		case 'D':
			f.Status = job.FileDeleted
		case 'R', 'C':
			f.Status, f.OldPath, f.Path = job.FileRenamed, f.Path, fields[i]
			i++
		case 'T':
			f.Status = job.FileModified
		default:
			f.Status = job.FileModified
		}
		if meta[0] != meta[1] && meta[0] != "000000" && meta[1] != "000000" {
			f.Mode = meta[0] + modeArrow + meta[1]
		}
		f.sections = sectionsOf(f.FileDiff)
		f.Digest = job.Digest([]byte(strings.Join(append(meta[:4:4], string(f.Status), f.OldPath, f.Path), "\x00")))
		files = append(files, f)
	}
	return files
}

// countLines adds the line counts of "git diff-tree --numstat -z", which lists the files in the
// same order.
func countLines(files []*changed, text string) {
	fields := strings.Split(text, "\x00")
	for i, n := 0, 0; i < len(fields) && n < len(files); n++ {
		parts := strings.SplitN(fields[i], "\t", 3)
		if len(parts) < 3 {
			return
		}
		i++
		if parts[2] == "" { // a renamed file: both names follow
			i += 2
		}
		f := files[n]
		if f.Binary = parts[0] == "-"; !f.Binary {
			f.Additions, _ = strconv.Atoi(parts[0])
			f.Deletions, _ = strconv.Atoi(parts[1])
		}
	}
}

var (
	secretFiles = lazy.Regexp(`(?i)^(\.env(\..+)?|id_(rsa|dsa|ecdsa|ed25519)|.*\.(pem|key|p12|pfx|jks|keystore|kdbx|ppk)|\.?credentials(\.(json|yaml|yml|ini|csv))?|\.netrc|\.pgpass|\.htpasswd|\.npmrc|\.pypirc|service[-_]account.*\.json|secrets?\.(json|ya?ml|toml))$`)
	notSecret   = lazy.Regexp(`(?i)^\.env\.(example|sample|template|dist)$`)
	secretText  = lazy.Regexp(`-----BEGIN [A-Z ]*PRIVATE KEY-----|\bAKIA[0-9A-Z]{16}\b|\bgh[pousr]_[A-Za-z0-9]{36,}\b|\bgithub_pat_[A-Za-z0-9_]{40,}|\bxox[abprs]-[A-Za-z0-9-]{10,}|\bsk-[A-Za-z0-9_-]{32,}|\bglpat-[A-Za-z0-9_-]{20,}|\bAIza[0-9A-Za-z_-]{35}\b`)
)

// suspicion returns why a reviewer should check a changed file carefully, or "" if there is no
// reason: it may contain a secret, or differ from what will be pushed.
func suspicion(f *changed) string {
	switch {
	case f.Status == job.FileDeleted:
		return ""
	case f.Repository:
		return "a git repository of its own: only the id of its commit is pushed, none of its files"
	case f.symlink:
		return "a symbolic link: opening it reads or writes its target"
	case isAttributes(f.Path):
		return "it decides in which form git stores other files, and by which filters"
	case holdsSecrets(f.Path):
		return "files of this name often hold secrets"
	case f.OldPath != "" && holdsSecrets(f.OldPath):
		return "files of its former name often hold secrets"
	case f.Binary:
		return "binary: its content is not shown"
	case f.secret:
		return "a line looks like a secret"
	case f.pieced:
		return fmt.Sprintf("a line is longer than %d KiB: it is shown in pieces", longLine>>10)
	case f.garbled || !utf8.ValidString(f.OldPath+f.Path):
		return "some bytes of it are no UTF-8: they are shown as \uFFFD, whatever they are"
	}
	return ""
}

// holdsSecrets reports whether files of this name often contain secrets.
func holdsSecrets(file string) bool {
	name := path.Base(file)
	return secretFiles().MatchString(name) && !notSecret().MatchString(name)
}
