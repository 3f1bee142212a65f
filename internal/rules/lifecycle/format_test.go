package lifecycle_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"ringback/internal/job"
	"ringback/internal/rules/approval"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/store"
	"ringback/internal/store/storetest"
	"ringback/test/must"
)

var updateFormat = flag.Bool("update-format", false, "write the fixture of the store's format anew: once for each format")

// formatFixture returns the file of a store in a format. If a test that reads it fails, the stored format has changed:
// increment store.Format, and write a new fixture.
func formatFixture(format int) string { return fmt.Sprintf("testdata/format%d.json", format) }

// storedFormat is the content of a store: the jobs by name, and the keys except streams.
type storedFormat struct {
	Jobs map[string]job.ID    `json:"jobs"`
	Keys map[string]storedKey `json:"keys"`
}

type storedKey struct {
	Type  string          `json:"type"`
	Value json.RawMessage `json:"value"`
}

// formatDefinition is a stand-in for the definition of the jobs' kind.
var formatDefinition = []byte(`{"name":"k","prompt":"Book."}`)

// booking returns the operation that the jobs of the fixture ask a person about.
func booking(t *testing.T, place string) job.Operation {
	t.Helper()
	return must.Get(approval.OfAction("book", map[string]any{"place": place}))(t)
}

// playFormat brings a job into each of the situations of the fixture.
func playFormat(t *testing.T, s *storetest.Service) map[string]job.ID {
	t.Helper()
	ctx, jobs := t.Context(), map[string]job.ID{}
	do := func(err error) {
		t.Helper()
		must.OK(t, err)
	}
	claim := func(name string) {
		turn, err := s.Claim(ctx, store.PartitionOf(jobs[name]), lifecycle.Worker{Node: "n"})
		if err != nil || turn == nil || turn.Job.ID != jobs[name] {
			t.Fatalf("claiming %s: %+v, %v", name, turn, err)
		}
	}
	begin := func(name string) {
		n := newJob("old-" + name)
		n.KindVersion, n.Definition = job.Digest(formatDefinition), formatDefinition
		n.SessionID, n.CallbackTimeout, n.MaxAttempts = "s-"+name, 100*365*24*time.Hour, 1
		j, err := s.Start(ctx, n)
		do(err)
		jobs[name] = j.ID
		claim(name)
	}
	ask := func(name, place string) {
		text := "Book the trip to " + place + "?"
		op := booking(t, place)
		_, _, _, err := s.Ask(ctx, lifecycle.NewCheckpoint{
			RequestID: jobs[name], UserID: "old-" + name, SessionID: "s-" + name, Type: job.Confirmation, Message: text,
			Chat: job.Text(job.FromAssistant, text), Digest: "d", ApprovalKey: approval.Key(op), AuditFields: op,
		})
		do(err)
	}
	endTurn := func(name string) {
		_, err := s.EndTurn(ctx, lifecycle.TurnEnd{ID: jobs[name], Turn: 1, Node: "n", Code: job.CodeNoCallback, Message: "no", Again: true, Begun: true})
		do(err)
	}
	begin("work")
	_, err := s.AppendMessage(ctx, "old-work", "s-work", job.Text(job.FromUser, "By train, please"), new(lifecycle.Addressee))
	do(err)

	begin("parked")
	ask("parked", "Rome")
	endTurn("parked")

	begin("allowed")
	ask("allowed", "Oslo")
	endTurn("allowed")
	j, err := s.Get(ctx, jobs["allowed"])
	do(err)
	_, err = s.Answer(ctx, *j.Checkpoint, lifecycle.Resolution{
		To: job.Answered, Reply: job.Reply{Decision: job.Approve}, Approval: approval.Permission{Scope: job.Once, Life: 100 * 365 * 24 * time.Hour},
	})
	do(err)
	claim("allowed")

	begin("received")
	_, err = s.Accept(ctx, jobs["received"], lifecycle.Submission{Digest: "d", Result: json.RawMessage(`{"answer":"x"}`)})
	do(err)
	endTurn("received")

	begin("failed")
	endTurn("failed")
	return jobs
}

func put(t *testing.T, rdb redis.UniversalClient, key, kind string, value json.RawMessage) error {
	t.Helper()
	var text []byte // some are compressed
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

// readFormat returns the fixture of a format. With -update-format, it writes that of the newest first.
func readFormat(t *testing.T, format int) storedFormat {
	t.Helper()
	if *updateFormat && format == store.Format {
		rdb := storetest.PrivateRedis(t)
		s := store.New(rdb, storetest.WithDefaults(store.Options{}), slog.New(slog.DiscardHandler))
		t.Cleanup(func() { _ = s.Close() })
		must.OK(t, s.Prepare(t.Context()))
		fixture := storedFormat{Jobs: playFormat(t, &storetest.Service{Store: s, Service: lifecycle.New(s, nil, lifecycle.Options{})}), Keys: map[string]storedKey{}}
		for _, key := range rdb.Keys(t.Context(), "*").Val() {
			if k, ok := storedKeyOf(t, rdb, key); ok {
				fixture.Keys[key] = k
			}
		}
		text := must.Get(json.MarshalIndent(fixture, "", " "))(t)
		must.OK(t, os.WriteFile(formatFixture(format), append(text, '\n'), 0o600))
	}
	text := must.Get(os.ReadFile(formatFixture(format)))(t)
	var fixture storedFormat
	must.OK(t, json.Unmarshal(text, &fixture))
	return fixture
}

// storedKeyOf reads a key in the form that put writes. Streams are left out.
func storedKeyOf(t *testing.T, rdb redis.UniversalClient, key string) (storedKey, bool) {
	t.Helper()
	var value any
	ctx, kind := t.Context(), rdb.Type(t.Context(), key).Val()
	switch kind {
	case "string":
		value = []byte(rdb.Get(ctx, key).Val())
	case "hash":
		fields := rdb.HGetAll(ctx, key).Val()
		if fields["secret"] != "" {
			fields["secret"] = strings.Repeat("0", 64)
		}
		value = fields
	case "set":
		value = rdb.SMembers(ctx, key).Val()
	case "list":
		value = rdb.LRange(ctx, key, 0, -1).Val()
	case "zset":
		scores := map[string]float64{}
		for _, z := range rdb.ZRangeWithScores(ctx, key, 0, -1).Val() {
			scores[z.Member.(string)] = z.Score
		}
		value = scores
	default:
		return storedKey{}, false
	}
	text := must.Get(json.Marshal(value))(t)
	return storedKey{kind, text}, true
}

// A refused jump names the version to go through, which a person finds there.
func TestTheFormatsOfVersionsAreDocumented(t *testing.T) {
	t.Parallel()
	text := must.Get(os.ReadFile("../../../docs/how-to/upgrade.md"))(t)
	must.Contain(t, string(text), fmt.Sprintf(" | %d | %d and %d |\n", store.Format, store.Format-1, store.Format))
}

// A store that was written by another version, in either format, is read unchanged, and its jobs continue.
func TestJobsOfTheStoredFormatGoOn(t *testing.T) {
	t.Parallel()
	for _, format := range []int{store.Format - 1, store.Format} {
		t.Run(strconv.Itoa(format), func(t *testing.T) {
			t.Parallel()
			jobsGoOn(t, format, readFormat(t, format))
		})
	}
}

func jobsGoOn(t *testing.T, format int, fixture storedFormat) {
	t.Helper()
	jobs := fixture.Jobs
	storetest.OnBoth(t, lifecycle.Options{}, func(t *testing.T, s *storetest.Service, rdb redis.UniversalClient) {
		ctx := t.Context()
		for key, k := range fixture.Keys {
			must.OK(t, put(t, rdb, key, k.Type, k.Value), key)
		}
		must.OK(t, s.Prepare(ctx))
		for name, want := range map[string]job.State{
			"work": job.Running, "parked": job.AwaitingApproval, "allowed": job.Running, "received": job.Received, "failed": job.Failed,
		} {
			j, err := s.Get(ctx, jobs[name])
			if err != nil || j.State != want || j.Turn == 0 || len(j.Input) == 0 || j.CreatedAt.IsZero() {
				t.Errorf("%s is %+v, %v", name, j, err)
			}
			if definition, err := s.KindDefinition(ctx, j.ID, j.KindVersion); err != nil || string(definition) != string(formatDefinition) {
				t.Errorf("the kind of %s was %s, %v", name, definition, err)
			}
			if listed, _, err := s.Jobs.List(ctx, store.Query{States: []job.State{want}, Limit: 10}); err != nil || len(listed) == 0 {
				t.Errorf("no %s job is listed, %v", want, err)
			}
		}

		if outcome, err := s.Accept(ctx, jobs["work"], lifecycle.Submission{Digest: "d", Result: json.RawMessage(`{"answer":"x"}`)}); err != nil || outcome.Kind != lifecycle.Accepted {
			t.Errorf("a result for the one at work: %s, %v", outcome, err)
		}
		follower := newJob("old-work")
		follower.SessionID, follower.Follows = "s-work", jobs["work"]
		must.Get(s.Start(ctx, follower))(t)

		parked, err := s.Get(ctx, jobs["parked"])
		if err != nil || parked.Checkpoint == nil || parked.Checkpoint.Message != "Book the trip to Rome?" {
			t.Fatalf("what is asked: %+v, %v", parked.Checkpoint, err)
		}
		no := job.Reply{Decision: job.Deny, Reason: "too far"}
		_, err = s.Answer(ctx, *parked.Checkpoint, lifecycle.Resolution{To: job.Answered, Reply: no})
		must.OK(t, err, "answering it:")
		if now, err := s.Get(ctx, parked.ID); err != nil || now.State != job.Pending {
			t.Errorf("then it is %s, %v", now.State, err)
		}

		op := booking(t, "Oslo")
		run := lifecycle.NewRun{RequestID: jobs["allowed"], Run: "run_1", ApprovalKey: approval.Key(op), AuditFields: op, Gated: true}
		for i, want := range []lifecycle.OutcomeKind{lifecycle.Accepted, lifecycle.Repeated} {
			if outcome, _, _, err := s.StartAction(ctx, run); err != nil || outcome.Kind != want {
				t.Errorf("using the approval, time %d: %s, %v", i+1, outcome, err)
			}
		}

		left := rdb.HExists(ctx, strings.Replace(jobKey(t, rdb, jobs["allowed"]), "job:"+string(jobs["allowed"]), "action:run_1", 1), "callbackLeft").Val()
		must.Equal(t, format == 9, left, "what only servers of format 9 read is written")

		must.OK(t, s.Retry(ctx, jobs["failed"]), "retrying the one that failed:")
		messages, _, err := s.Chats.Messages(ctx, "old-parked", "s-parked", 0, 100)
		if err != nil || len(messages) == 0 {
			t.Errorf("the chat has %d messages, %v", len(messages), err)
		}
		if answers, err := s.Checkpoints.Answers(ctx, jobs["allowed"]); err != nil || len(answers) != 1 || answers[0].Reply.Decision != job.Approve {
			t.Errorf("the answers so far are %+v, %v", answers, err)
		}
	})
}

// A store in another format is left unchanged, and the error describes what to do.
func TestOtherFormatsAreRefused(t *testing.T) {
	t.Parallel()
	storetest.OnBoth(t, lifecycle.Options{}, func(t *testing.T, s *storetest.Service, rdb redis.UniversalClient) {
		for format, says := range map[int]string{5: "use an empty store", 99: "start the newer version here"} {
			rdb.Set(t.Context(), "rb:{00}:format", format, 0)
			must.Fail(t, s.Prepare(t.Context()), says, "format", format)
		}
	})
}
