package scan

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"iter"
	"net/url"
	"regexp"
	"strings"
)

// encodings returns the encodings of a secret, by name.
func encodings(secret string) map[string]string {
	all := map[string]string{
		"as it is": secret,
		"in hex":   hex.EncodeToString([]byte(secret)),
		"in HEX":   strings.ToUpper(hex.EncodeToString([]byte(secret))),
	}
	for name, text := range map[string]string{
		"escaped for JSON":          escaped(secret, false),
		"escaped for JSON and HTML": escaped(secret, true),
		"escaped for JSON twice":    escaped(escaped(secret, true), true),
		"escaped for a query":       url.QueryEscape(secret),
		"escaped for a path":        url.PathEscape(secret),
	} {
		if text != secret {
			all[name] = text
		}
	}
	// The base64 of a text depends on how many bytes precede it; the digits at its ends
	// also depend on its neighbours.
	for before := range 3 {
		digits := base64.RawStdEncoding.EncodeToString([]byte(strings.Repeat("x", before) + secret))
		inner := digits[(before*8+5)/6 : len(digits)-1]
		all["in base64, "+string(rune('0'+before))] = inner
		all["in base64 for URLs, "+string(rune('0'+before))] = strings.NewReplacer("+", "-", "/", "_").Replace(inner)
	}
	return all
}

// escaped returns a text as it appears between the quotes of a JSON string.
func escaped(text string, html bool) string {
	var out strings.Builder
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(html)
	_ = e.Encode(text) // a text can always be encoded as JSON
	quoted := strings.TrimSpace(out.String())
	return quoted[1 : len(quoted)-1]
}

// token matches users' tokens (JWTs).
var token = regexp.MustCompile(`eyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]{43}`)

// secretDigits is the number of hex digits of the secret and the signature of a turn.
const secretDigits = 64

// digitRuns returns the runs of hex digits in a text that may contain a turn's secret: as
// it is, in base64, and as hex of hex.
func digitRuns(text []byte) iter.Seq[string] {
	return func(yield func(string) bool) {
		for run := range runs(text, isHex, secretDigits) {
			if !yield(strings.ToLower(run)) {
				return
			}
			for start := range 2 {
				decoded, _ := hex.DecodeString(run[start : len(run)-(len(run)-start)%2])
				for inner := range runs(decoded, isHex, secretDigits) {
					if !yield(strings.ToLower(inner)) {
						return
					}
				}
			}
		}
		for run := range runs(text, isBase64, secretDigits*4/3) {
			run = strings.NewReplacer("-", "+", "_", "/").Replace(run)
			for start := range 4 {
				whole := run[start : len(run)-(len(run)-start)%4]
				decoded, _ := base64.RawStdEncoding.DecodeString(whole)
				for inner := range runs(decoded, isHex, secretDigits) {
					if !yield(strings.ToLower(inner)) {
						return
					}
				}
			}
		}
	}
}

// runs returns the longest runs of bytes of a class in a text that have at least the given
// length.
func runs(text []byte, class func(byte) bool, length int) iter.Seq[string] {
	return func(yield func(string) bool) {
		start := 0
		for i := 0; i <= len(text); i++ {
			if i < len(text) && class(text[i]) {
				continue
			}
			if i-start >= length && !yield(string(text[start:i])) {
				return
			}
			start = i + 1
		}
	}
}

func isHex(c byte) bool { return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F' }

func isBase64(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '+' || c == '/' || c == '-' || c == '_'
}
