package kind

import (
	"encoding/json"

	"ringback/internal/job"
)

// Accepted is a result that fits its schema.
type Accepted struct {
	// JSON is the stored result: the server's own properties are set to their defaults,
	// and the keys are sorted.
	JSON        json.RawMessage
	Digest      string // The same for the same payload, in any order and spacing.
	Suggestions *int   // The length of the result's list of suggestions; nil if it has none.
}

// Accept checks a result against the kind's schema and then its checks. It returns the result
// to store, or details about what is wrong. Values that Claude sends for the server's own
// properties are not an error: Claude was not shown them. Accept changes payload. It calls
// inputFunc if a check needs the job's input; with nil, it only checks the schema.
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
	text := job.MustJSON(v)
	a := Accepted{JSON: text, Digest: job.Digest(text)}
	if list, ok := payload["suggestions"].([]any); ok {
		n := len(list)
		a.Suggestions = &n
	}
	return a, nil, nil
}
