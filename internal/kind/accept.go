package kind

import (
	"encoding/json"

	"ringback/internal/job"
)

// Accepted is a result that fits its schema.
type Accepted struct {
	// JSON is what is kept: with the server's own properties set to their
	// defaults, and its keys sorted.
	JSON json.RawMessage
	// Digest is the same for the same payload, in whatever order and spacing.
	Digest string
	// Suggestions counts the items of the result's list of suggestions; nil when
	// it has none.
	Suggestions *int
}

// Accept checks a result against the kind's schema, then its checks. It returns what is wrong
// with it, or what to keep. What Claude sends for the server's own properties is
// no fault: it was not shown them. payload is changed. inputFunc is called if a check needs the
// job's input; nil for the schema alone.
func (k *Kind) Accept(payload map[string]any, inputFunc InputFunc) (Accepted, []job.Detail, error) {
	v := k.Result.ApplyDefaults(payload)
	details := k.Result.Validate(v)
	var err error
	if details == nil {
		details, err = k.checkResult(v, inputFunc)
	}
	if details != nil || err != nil {
		return Accepted{}, details, err
	}
	text, err := json.Marshal(v)
	if err != nil {
		return Accepted{}, nil, err
	}
	a := Accepted{JSON: text, Digest: job.Digest(text)}
	if list, ok := payload["suggestions"].([]any); ok {
		n := len(list)
		a.Suggestions = &n
	}
	return a, nil, nil
}
