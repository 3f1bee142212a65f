package api

import (
	"net/http"
	"strings"

	"ringback/internal/job"
	"ringback/internal/lazy"
)

// headerIdempotencyKey is an alternative to the body's field idempotencyKey, for clients
// that send the header with every POST.
const headerIdempotencyKey = "Idempotency-Key"

// idempotencyKey returns a request's key from its header, its body, or the same in both;
// empty for none.
func idempotencyKey(header http.Header, inBody string) (string, error) {
	if err := checkName("/idempotencyKey", inBody, job.KeyNames); err != nil {
		return "", err
	}
	values := header.Values(headerIdempotencyKey)
	if len(values) == 0 {
		return inBody, nil
	}
	key, ok := structuredString(values[0])
	if !ok || len(values) > 1 || job.KeyNames.Fault(key) != "" {
		return "", job.Errorf(job.Invalid, "Invalid header "+headerIdempotencyKey).
			WithHint("Send it once, with 1 to 256 characters, plain or in double quotes.")
	}
	if inBody != "" && inBody != key {
		return "", job.InvalidField("/idempotencyKey", "is another one than the header "+headerIdempotencyKey+"; send one of them")
	}
	return key, nil
}

// structuredString parses a header value that is either plain, as most clients send it, or
// a string of RFC 8941, as in the header's draft standard.
func structuredString(value string) (string, bool) {
	if !strings.HasPrefix(value, `"`) {
		return value, true
	}
	found := quotedString().FindStringSubmatch(value)
	if found == nil {
		return "", false
	}
	return strings.NewReplacer(`\"`, `"`, `\\`, `\`).Replace(found[1]), true
}

var quotedString = lazy.Regexp(`^"((?:[^"\\]|\\["\\])*)"$`)
