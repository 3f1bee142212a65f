package lifecycle_test

import (
	"testing"

	"github.com/redis/go-redis/v9"

	"ringback/internal/job"
	"ringback/internal/rules/approval"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/store/storetest"
	"ringback/test/must"
)

// A record of format 9 gets what it lacks once, and nothing else changes.
func TestARecordOfTheFormatBeforeIsRewrittenOnce(t *testing.T) {
	t.Parallel()
	published := []job.Published{{Repository: "app", Branch: "ringback/x", Commit: "abc"}}
	storetest.OnBoth(t, lifecycle.Options{}, func(t *testing.T, s *storetest.Service, rdb redis.UniversalClient) {
		ctx := t.Context()
		for name, c := range map[string]struct {
			field, value string // what the record has instead; no value for none
			has          func(job.Job) bool
		}{
			"what is allowed and not over": {"allowed", "", func(job.Job) bool { return true }},
			"what is public, in words": {"publicSoFar", "Already published: app, as abc.", func(j job.Job) bool {
				return len(j.PublishedCommits) == 1 && j.PublishedCommits[0] == published[0]
			}},
		} {
			must.Get(s.Start(ctx, newJob("u-"+name)))(t)
			id := s.Next(t, "n").Job.ID
			op := must.Get(approval.OfAction("book", map[string]any{"place": "Oslo"}))(t)
			_, asked, _, err := s.Ask(ctx, lifecycle.NewCheckpoint{
				RequestID: id, UserID: "u-" + name, SessionID: id.OwnSession(), Type: job.Confirmation, Message: "Book?",
				Chat: job.Text(job.FromAssistant, "Book?"), Digest: "d", ApprovalKey: approval.Key(op), AuditFields: op,
			})
			must.OK(t, err)
			must.Get(s.Answer(ctx, must.Get(s.Checkpoints.Get(ctx, asked))(t), lifecycle.Resolution{
				To: job.Answered, Reply: job.Reply{Decision: job.Approve}, Approval: approval.Permission{Scope: job.Once},
			}))(t)
			key := jobKey(t, rdb, id)
			before := rdb.HGetAll(ctx, key).Val()
			if c.value == "" {
				must.OK(t, rdb.HDel(ctx, key, c.field).Err())
			} else {
				must.OK(t, rdb.HSet(ctx, key, c.field, c.value).Err())
			}
			lacks := func(rewrite bool) bool {
				t.Helper()
				return must.Get(s.Rewrite(ctx, id, "", published, rewrite))(t)
			}
			old := rdb.HGetAll(ctx, key).Val()
			must.Equal(t, true, lacks(false), name, "lacks it")
			must.Equal(t, old, rdb.HGetAll(ctx, key).Val(), name, "after a look")
			must.Equal(t, true, lacks(true), name, "is rewritten")
			must.Equal(t, false, lacks(true), name, "is rewritten again")
			after := rdb.HGetAll(ctx, key).Val()
			must.Equal(t, before["allowed"], after["allowed"], name, "allowed")
			must.Equal(t, "", after["publicSoFar"], name, "words")
			must.Equal(t, true, c.has(must.Get(s.Get(ctx, id))(t)), name, "the job")
		}
	})
}
