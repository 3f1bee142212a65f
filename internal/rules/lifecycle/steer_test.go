package lifecycle_test

import (
	"strings"
	"testing"

	"ringback/internal/job"
	"ringback/internal/rules/lifecycle"
	"ringback/test/must"
)

func TestSteer(t *testing.T) {
	t.Parallel()
	manual := job.Options{Simulate: job.SimulateManual}
	for name, c := range map[string]struct {
		kind    string
		options job.Options
		prompt  string
		before  func(s *jobs, id job.ID)
		// refused is the kind of the refusal, and says a part of its text. If it is empty, the
		// round is queued.
		refused job.ErrorKind
		says    string
	}{
		"a change that is made":          {kind: "change", prompt: "More"},
		"without a prompt":               {kind: "change", prompt: " \n", refused: job.Invalid, says: "Invalid request"},
		"a kind without repositories":    {kind: "plain", prompt: "More", refused: job.Conflict, says: "no repositories"},
		"a change that nobody reviews":   {kind: "quick", prompt: "More", refused: job.Conflict, says: "needs no review"},
		"a change that is played":        {kind: "change", options: manual, prompt: "More"},
		"a change that has failed":       {kind: "change", prompt: "More", before: (*jobs).fail, refused: job.Conflict, says: "failed"},
		"a played change that is over":   {kind: "change", options: manual, prompt: "More", before: (*jobs).fail, refused: job.Conflict, says: "failed"},
		"a change steered often already": {kind: "change", prompt: "More", before: (*jobs).steerToTheLimit, refused: job.Conflict, says: "steered 5 times, which is the limit"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newJobs(t, lifecycle.Options{})
			r := request(c.kind)
			r.Options = c.options
			id := s.create(r)
			s.take()
			if c.before != nil {
				c.before(s, id)
			}
			underReview, err := s.Steer(t.Context(), s.get(id), c.prompt, job.Actor{Via: job.ViaAPI})
			if e := refusal(err); e.Kind != c.refused || !strings.Contains(e.Message, c.says) || underReview {
				t.Errorf("it is answered %v", err)
			}
			if c.refused == "" && err != nil {
				t.Error(err)
			}
		})
	}
}

func (s *jobs) steerToTheLimit(id job.ID) {
	s.t.Helper()
	for range job.DefaultIterations {
		must.Get(s.Steer(s.t.Context(), s.get(id), "Again", job.Actor{}))(s.t)
	}
}
