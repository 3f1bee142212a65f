package workspace

import (
	"path"
	"regexp"
	"strings"

	"ringback/internal/job"
)

var (
	secretFiles = regexp.MustCompile(`(?i)^(\.env(\..+)?|id_(rsa|dsa|ecdsa|ed25519)|.*\.(pem|key|p12|pfx|jks|keystore|kdbx|ppk)|\.?credentials(\.(json|yaml|yml|ini|csv))?|\.netrc|\.pgpass|\.htpasswd|\.npmrc|\.pypirc|service[-_]account.*\.json|secrets?\.(json|ya?ml|toml))$`)
	notSecret   = regexp.MustCompile(`(?i)^\.env\.(example|sample|template|dist)$`)
	secretText  = regexp.MustCompile(`-----BEGIN [A-Z ]*PRIVATE KEY-----|\bAKIA[0-9A-Z]{16}\b|\bgh[pousr]_[A-Za-z0-9]{36,}\b|\bgithub_pat_[A-Za-z0-9_]{40,}|\bxox[abprs]-[A-Za-z0-9-]{10,}|\bsk-[A-Za-z0-9_-]{32,}|\bglpat-[A-Za-z0-9_-]{20,}|\bAIza[0-9A-Za-z_-]{35}\b`)
)

// suspicion says why a changed file may hold a secret; "" where it does not look
// like it.
func suspicion(f job.FileDiff) string {
	if f.Status == job.FileDeleted {
		return ""
	}
	if name := path.Base(f.Path); secretFiles.MatchString(name) && !notSecret.MatchString(name) {
		return "files of this name often hold secrets"
	}
	for line := range strings.Lines(f.Diff) {
		if strings.HasPrefix(line, "+") && secretText.MatchString(line) {
			return "a line looks like a secret"
		}
	}
	return ""
}
