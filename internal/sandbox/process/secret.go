package process

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// secretName matches the names of variables that contain secrets.
var secretName = regexp.MustCompile(`(?i)key|token|secret|passw|credential|headers|webhook_url`)

// leastSecret is the minimum length of a secret, in bytes: shorter values are ordinary
// words, which would be blanked out wherever they occur.
const leastSecret = 8

// Secrets are values that must not appear in a program's output.
type Secrets struct {
	// spellings are the ways in which they may be written, the longest first.
	spellings [][]byte
}

// SecretsOf returns the secrets of an environment: the values of variables with a
// secret's name, each of several values that commas separate, each line, and passwords in
// URLs.
func SecretsOf(environ []string) Secrets {
	all := map[string]bool{}
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		if u, err := url.Parse(value); err == nil && u.User != nil {
			if password, ok := u.User.Password(); ok {
				all[password] = true
			}
		}
		if secretName.MatchString(name) && !strings.HasSuffix(strings.ToUpper(name), "_FILE") {
			// those contain a path instead of the secret
			all[value] = true
			for part := range strings.FieldsFuncSeq(value, func(r rune) bool { return r == ',' || r == '\n' }) {
				all[strings.TrimSpace(part)] = true
			}
		}
	}
	var s Secrets
	for secret := range all {
		if len(secret) < leastSecret {
			continue
		}
		for _, spelling := range spellings(secret) {
			s.spellings = append(s.spellings, []byte(spelling))
		}
	}
	slices.SortFunc(s.spellings, func(a, b []byte) int { return cmp.Or(len(b)-len(a), bytes.Compare(a, b)) })
	s.spellings = slices.CompactFunc(s.spellings, bytes.Equal)
	return s
}

// spellings returns a text as it is, and as it appears in JSON.
func spellings(text string) []string {
	all := []string{text}
	for _, html := range []bool{false, true} {
		var out strings.Builder
		e := json.NewEncoder(&out)
		e.SetEscapeHTML(html)
		if e.Encode(text) == nil {
			quoted := strings.TrimSpace(out.String())
			all = append(all, quoted[1:len(quoted)-1])
		}
	}
	return all
}

// Hide blanks the secrets out of a text, preserving its length.
func (s Secrets) Hide(text []byte) []byte {
	hidden := text
	for _, secret := range s.spellings {
		if bytes.Contains(hidden, secret) {
			hidden = bytes.ReplaceAll(hidden, secret, bytes.Repeat([]byte{'*'}, len(secret)))
		}
	}
	return hidden
}

// Open returns how many bytes at the end of a text may be the beginning of a secret.
func (s Secrets) Open(text []byte) int {
	open := 0
	for _, secret := range s.spellings {
		for n := min(len(secret)-1, len(text)); n > open; n-- {
			if bytes.HasSuffix(text, secret[:n]) {
				open = n
			}
		}
	}
	return open
}

// Longest returns the length of the longest secret, in bytes.
func (s Secrets) Longest() int {
	if len(s.spellings) == 0 {
		return 0
	}
	return len(s.spellings[0])
}
