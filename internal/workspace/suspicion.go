package workspace

import (
	"fmt"
	"path"
	"unicode/utf8"

	"ringback/internal/job"
	"ringback/internal/lazy"
)

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
