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

// secretName tells variables whose values are secrets.
var secretName = regexp.MustCompile(`(?i)key|token|secret|passw|credential|headers|webhook_url`)

// leastSecret is how long a secret is at least, in bytes: shorter values are words that
// stand for nothing, and would be blanked out wherever they stand.
const leastSecret = 8

// Secrets are what nobody may read in what a program prints.
type Secrets struct {
	// spellings are how they may be written, the longest first.
	spellings [][]byte
}

// SecretsOf returns the secrets of an environment: the values of variables that are named
// so, each of several that commas separate, each line, and passwords in addresses.
func SecretsOf(environ []string) Secrets {
	all := map[string]bool{}
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		if u, err := url.Parse(value); err == nil && u.User != nil {
			if password, ok := u.User.Password(); ok {
				all[password] = true
			}
		}
		if secretName.MatchString(name) && !strings.HasSuffix(strings.ToUpper(name), "_FILE") { // where it is, not what
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

// spellings are a text as it is, and as it stands in JSON.
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

// Hide blanks the secrets out of a text, keeping its length.
func (s Secrets) Hide(text []byte) []byte {
	hidden := text
	for _, secret := range s.spellings {
		if bytes.Contains(hidden, secret) {
			hidden = bytes.ReplaceAll(hidden, secret, bytes.Repeat([]byte{'*'}, len(secret)))
		}
	}
	return hidden
}

// Open is how many bytes at the end of a text may be the beginning of a secret.
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

// Longest is how many bytes the longest of them has.
func (s Secrets) Longest() int {
	if len(s.spellings) == 0 {
		return 0
	}
	return len(s.spellings[0])
}
