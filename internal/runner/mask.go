package runner

import (
	"bytes"
	"net/url"
	"regexp"
	"strings"
)

// signatureDigits is the length of a signature: Claude writes it into payload
// files, and the CLI prints what Claude writes.
const signatureDigits = 64

// maskSignatures blanks out everything that looks like a signature, keeping the
// length.
func maskSignatures(text []byte) []byte {
	masked := bytes.Clone(text)
	for start := 0; start < len(masked); {
		run := digits(masked[start:])
		if run == signatureDigits {
			copy(masked[start:], bytes.Repeat([]byte{'*'}, run))
		}
		start += max(run, 1)
	}
	return masked
}

// openDigits is how many digits the text ends with, if these may go on to be a
// signature.
func openDigits(text []byte) int {
	run := 0
	for run < len(text) && run <= signatureDigits && isDigit(text[len(text)-1-run]) {
		run++
	}
	if run > signatureDigits {
		return 0
	}
	return run
}

func digits(text []byte) int {
	n := 0
	for n < len(text) && isDigit(text[n]) {
		n++
	}
	return n
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' }

// secretName tells variables whose values are secrets.
var secretName = regexp.MustCompile(`(?i)key|token|secret|passw|credential|headers`)

// secretsIn are the values of an environment that nobody may read in what a
// program prints: those of variables that are named as secrets, and passwords of
// proxies.
func secretsIn(environ []string) []string {
	const least = 8 // shorter ones are words that stand for nothing
	var secrets []string
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		if u, err := url.Parse(value); err == nil && u.User != nil {
			if password, ok := u.User.Password(); ok {
				secrets = append(secrets, password)
			}
		}
		if secretName.MatchString(name) && len(value) >= least {
			secrets = append(secrets, value)
		}
	}
	return secrets
}

// mask blanks out signatures and the given secrets, keeping the length.
func mask(text []byte, secrets []string) []byte {
	masked := maskSignatures(text)
	for _, secret := range secrets {
		if secret != "" {
			masked = bytes.ReplaceAll(masked, []byte(secret), bytes.Repeat([]byte{'*'}, len(secret)))
		}
	}
	return masked
}
