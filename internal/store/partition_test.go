package store_test

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/redis/go-redis/v9"

	"ringback/internal/job"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/store"
	"ringback/internal/store/storetest"
	"ringback/test/must"
)

// Text that was never a request ID is rejected by all operations on jobs, and nothing is stored
// under it.
func TestTextThatWasNeverARequestIDIsNotFound(t *testing.T) {
	t.Parallel()
	storetest.OnBoth(t, lifecycle.Options{}, func(t *testing.T, s *storetest.Service, rdb redis.UniversalClient) {
		before := must.Get(rdb.Keys(t.Context(), "*").Result())(t)
		for _, id := range []job.ID{"", "x", "req_", "req_00_short", "req_zz_aaaaaaaaaaaaaaaaaaaaaaaaaa", "req_10_aaaaaaaaaaaaaaaaaaaaaaaaaa", "req_00_aaaaaaaaaaaaaaaaaaaaaaaaaa:b"} {
			ctx, text := t.Context(), json.RawMessage(`{}`)
			for name, do := range map[string]func() error{
				"Get":             func() error { _, err := s.Get(ctx, id); return err },
				"Signature":       func() error { _, err := s.Jobs.Signature(ctx, id); return err },
				"Phase":           func() error { return s.SetPhase(ctx, id, lifecycle.Holder{Turn: 1, Node: "n"}, job.AtWork) },
				"Begin":           func() error { return s.BeginConversation(ctx, id, lifecycle.Holder{}, true) },
				"Extend":          func() error { return s.ExtendTurn(ctx, id, lifecycle.Holder{}, 0) },
				"End":             func() error { return s.End(ctx, id, job.Cancelled, "", "", lifecycle.Holder{}) },
				"Retry":           func() error { return s.Retry(ctx, id) },
				"EndTurn":         func() error { _, err := s.EndTurn(ctx, lifecycle.TurnEnd{ID: id}); return err },
				"Progress":        func() error { _, err := s.Calls.Progress(ctx, id, store.JobHeader{}, text, "d"); return err },
				"Result":          func() error { _, err := s.Accept(ctx, id, lifecycle.Submission{Result: text}); return err },
				"GiveUp":          func() error { _, err := s.ReportFailure(ctx, id, "c", "m", false); return err },
				"Batch":           func() error { _, _, err := s.AddBatch(ctx, id, lifecycle.NewBatch{Items: text}); return err },
				"Batches":         func() error { _, err := s.Calls.Batches(ctx, id); return err },
				"Act":             func() error { _, _, _, err := s.StartAction(ctx, lifecycle.NewRun{RequestID: id}); return err },
				"Heard":           func() error { return s.AckActionResult(ctx, id, "s", "r") },
				"Note":            func() error { return s.AppendAudit(ctx, id, job.AuditEntry{Event: "refused"}) },
				"Audit":           func() error { _, _, err := s.Jobs.Audit(ctx, id); return err },
				"Answers":         func() error { _, err := s.Checkpoints.Answers(ctx, id); return err },
				"Reads":           func() error { _, err := s.Jobs.Interprets(ctx, id); return err },
				"Diff":            func() error { _, err := s.Changes.Diff(ctx, id); return err },
				"Steering":        func() error { _, err := s.Changes.Steering(ctx, id, 1); return err },
				"SaveChange":      func() error { return s.SaveChange(ctx, id, lifecycle.Holder{}, store.Captured{}.Parts(nil)) },
				"SaveSnapshot":    func() error { return s.Changes.SaveSnapshot(ctx, id, 1, text, nil) },
				"Holds":           func() error { return s.Holds(ctx, id, lifecycle.Holder{}) },
				"WriteTranscript": func() error { return s.Transcripts.Write(ctx, id, 1, 0, []byte("x")) },
				"PackTranscript":  func() error { return s.Transcripts.Pack(ctx, id, 1) },
				"WriteStderr":     func() error { return s.Transcripts.WriteStderr(ctx, id, 1, []byte("x")) },
			} {
				if e, ok := errors.AsType[*job.Error](do()); !ok || e.Kind != job.NotFound {
					t.Errorf("%s of %q: %v", name, id, e)
				}
			}
			if _, _, ok, err := s.Calls.Header(ctx, id); ok || err != nil {
				t.Errorf("Facts of %q: %v, %v", id, ok, err)
			}
		}
		after := must.Get(rdb.Keys(t.Context(), "*").Result())(t)
		must.Equal(t, len(before), len(after), "keys were made:", after)
	})
}
