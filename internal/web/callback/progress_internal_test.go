package callback

import (
	"encoding/json"
	"strings"
	"testing"

	"ringback/internal/job"
	"ringback/internal/job/strictjson"
	"ringback/internal/rules/schema"
	"ringback/test/must"
)

// FuzzReadActivity compares the quick check of progress reports with their schema: the
// schema must accept everything that the quick check accepts.
func FuzzReadActivity(f *testing.F) {
	for _, seed := range []string{
		`{"message":"x"}`, `{"message":""}`, `{"message":"x","progress":0,"type":"results"}`, `{"message":"x","progress":100.5}`,
		`{"message":"x","progress":-1e-9}`, `{"message":"x","type":null}`, `{"message":"x","progress":"5"}`, `{"message":5}`,
		`{"message":"` + strings.Repeat("ä", 2000) + `"}`, `{"message":"x","progress":1e400}`, `{"message":"x","progress":100.00000000000000001}`,
	} {
		f.Add([]byte(seed))
	}
	compiled := must.Get(schema.New("payload", []byte(progressSchema)))(f)
	f.Fuzz(func(t *testing.T, body []byte) {
		payload, err := strictjson.Decode(body)
		if err != nil {
			return
		}
		activity, ok := readActivity(payload)
		details := compiled.Validate(payload)
		if ok && details != nil && !isRounding(payload) {
			t.Errorf("%s passes, but %v", body, details)
		}
		if details == nil && (activity.Message == "" || activity.Progress < 0 || activity.Progress > 100) {
			t.Errorf("%s is read as %+v", body, activity)
		}
	})
}

// isRounding reports numbers that a float cannot distinguish from 0 or 100.
func isRounding(payload map[string]any) bool {
	n, _ := payload["progress"].(json.Number)
	f, _ := n.Float64()
	return f == 0 || f == 100
}

func TestActivityDefaults(t *testing.T) {
	t.Parallel()
	got, ok := readActivity(map[string]any{"message": "x"})
	if want := (job.Activity{Message: "x", Type: job.Querying, Progress: 50}); got != want || !ok {
		t.Errorf("read %+v, %t", got, ok)
	}
}
