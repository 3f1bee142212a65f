package lifecycle_test

import (
	"encoding/json"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"ringback/internal/approval"
	"ringback/internal/job"
	"ringback/internal/lifecycle"
	"ringback/internal/store"
	"ringback/internal/store/storetest"
)

// storedFormat is a store as a version of format 1 has left it: names of jobs, and keys.
type storedFormat struct {
	Jobs map[string]job.ID
	Keys map[string]struct {
		Type  string
		Value json.RawMessage
	}
}

// restore puts the keys of testdata/format1.json into a Redis. They were written by a
// server of format 1; streams and expiry are left out.
func restore(t *testing.T, rdb redis.UniversalClient) map[string]job.ID {
	t.Helper()
	text, err := os.ReadFile("testdata/format1.json")
	if err != nil {
		t.Fatal(err)
	}
	var stored storedFormat
	if err := json.Unmarshal(text, &stored); err != nil {
		t.Fatal(err)
	}
	for key, k := range stored.Keys {
		if strings.Contains(key, ":approvals:") { // what was allowed then is allowed still
			later := []byte("|" + strconv.FormatInt(time.Now().Add(time.Hour).UnixMilli(), 10) + `"`)
			k.Value = regexp.MustCompile(`\|\d+"`).ReplaceAll(k.Value, later)
		}
		if err := put(t, rdb, key, k.Type, k.Value); err != nil {
			t.Fatalf("%s: %v", key, err)
		}
	}
	return stored.Jobs
}

func put(t *testing.T, rdb redis.UniversalClient, key, kind string, value json.RawMessage) error {
	t.Helper()
	var text string
	var fields map[string]any
	var list []any
	ctx := t.Context()
	switch kind {
	case "string":
		if err := json.Unmarshal(value, &text); err != nil {
			return err
		}
		return rdb.Set(ctx, key, text, 0).Err()
	case "hash", "zset":
		if err := json.Unmarshal(value, &fields); err != nil {
			return err
		}
		if kind == "hash" {
			return rdb.HSet(ctx, key, fields).Err()
		}
		for member, score := range fields {
			if err := rdb.ZAdd(ctx, key, redis.Z{Score: score.(float64), Member: member}).Err(); err != nil {
				return err
			}
		}
		return nil
	}
	if err := json.Unmarshal(value, &list); err != nil {
		return err
	}
	if kind == "set" {
		return rdb.SAdd(ctx, key, list...).Err()
	}
	return rdb.RPush(ctx, key, list...).Err()
}

// TestJobsOfFormat1GoOn takes jobs on that an earlier version has stored: one at work
// with a message that waits, one that waits for a person, one with an approval that
// nobody has used, one that has ended and one that can be retried.
func TestJobsOfFormat1GoOn(t *testing.T) {
	t.Parallel()
	storetest.OnBoth(t, lifecycle.Options{}, func(t *testing.T, s *storetest.Service, rdb redis.UniversalClient) {
		ctx, jobs := t.Context(), restore(t, rdb)
		upgrade(t, s, rdb)
		for name, want := range map[string]job.State{
			"work": job.Running, "parked": job.AwaitingApproval, "allowed": job.Running, "received": job.Received, "failed": job.Failed,
		} {
			j, err := s.Get(ctx, jobs[name])
			if err != nil || j.State != want || j.Turn == 0 || len(j.Input) == 0 || j.CreatedAt.IsZero() {
				t.Errorf("%s is %+v, %v", name, j, err)
			}
		}

		if outcome, err := s.Accept(ctx, jobs["work"], lifecycle.Submission{Digest: "d", Result: json.RawMessage(`{"answer":"x"}`)}); err != nil || outcome.Kind != lifecycle.Accepted {
			t.Errorf("a result for the one at work: %s, %v", outcome, err)
		}
		follower := newJob("old-work")
		follower.SessionID, follower.Follows = "s-work", jobs["work"]
		if _, err := s.Start(ctx, follower); err != nil {
			t.Errorf("following it for the message that waits: %v", err)
		}

		parked, err := s.Get(ctx, jobs["parked"])
		if err != nil || parked.Checkpoint == nil || parked.Checkpoint.Message != "Book the trip to Rome?" {
			t.Fatalf("what is asked: %+v, %v", parked.Checkpoint, err)
		}
		if _, err := s.Answer(ctx, *parked.Checkpoint, lifecycle.Resolution{To: job.Answered, Reply: job.Reply{Decision: job.Deny, Reason: "too far"}}); err != nil {
			t.Errorf("answering it: %v", err)
		}
		if now, err := s.Get(ctx, parked.ID); err != nil || now.State != job.Pending {
			t.Errorf("then it is %s, %v", now.State, err)
		}

		op, err := approval.OfAction("book", map[string]any{"place": "Oslo"})
		if err != nil {
			t.Fatal(err)
		}
		run := lifecycle.NewRun{RequestID: jobs["allowed"], Run: "run_1", ApprovalKey: approval.Key(op), AuditFields: op, Gated: true}
		for i, want := range []lifecycle.OutcomeKind{lifecycle.Accepted, lifecycle.Repeated} {
			if outcome, _, err := s.StartAction(ctx, run); err != nil || outcome.Kind != want {
				t.Errorf("using the approval, time %s: %s, %v", strconv.Itoa(i+1), outcome, err)
			}
		}

		if err := s.Retry(ctx, jobs["failed"]); err != nil {
			t.Errorf("retrying the one that failed: %v", err)
		}
		messages, _, err := s.Messages(ctx, "old-parked", "s-parked", 0, 100)
		if err != nil || len(messages) < 3 {
			t.Errorf("the chat has %d messages, %v", len(messages), err)
		}
		if answers, err := s.Answers(ctx, jobs["allowed"]); err != nil || len(answers) != 1 || answers[0].Reply.Decision != job.Approve {
			t.Errorf("the answers so far are %+v, %v", answers, err)
		}
	})
}

// upgrade starts a server of this version on a store of an earlier one: the lists that
// were not kept then are made, and what was kept then and is not now is gone.
func upgrade(t *testing.T, s *storetest.Service, rdb redis.UniversalClient) {
	t.Helper()
	ctx := t.Context()
	if err := rdb.Del(ctx, "rb:{00}:format").Err(); err != nil { // storetest has written it
		t.Fatal(err)
	}
	if err := s.Prepare(ctx); err != nil {
		t.Fatal(err)
	}
	if err := s.Upgrade(ctx); err != nil {
		t.Fatal(err)
	}
	for _, state := range []job.State{job.Running, job.AwaitingApproval, job.Received, job.Failed} {
		if listed, _, err := s.List(ctx, store.Query{State: state, Limit: 10}); err != nil || len(listed) == 0 {
			t.Errorf("no %s job is listed, %v", state, err)
		}
	}
	if open, _, err := s.Checkpoints(ctx, store.CheckpointQuery{Status: job.Open, Limit: 10}); err != nil || len(open) == 0 {
		t.Errorf("no open checkpoint is listed, %v", err)
	}
	if _, err := s.Inspect(ctx, false, func(f job.Finding) { t.Errorf("after the upgrade: %+v", f) }); err != nil {
		t.Error(err)
	}
}
