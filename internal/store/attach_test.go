package store_test

import (
	"testing"

	"github.com/redis/go-redis/v9"

	"ringback/internal/job"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/store"
	"ringback/internal/store/storetest"
	"ringback/test/must"
)

// A store that goes back in time forgets jobs with running processes. Anything that their nodes
// then wrote about them would never be deleted.
func TestNothingIsKeptOfAJobThatIsGone(t *testing.T) {
	t.Parallel()
	storetest.OnBoth(t, lifecycle.Options{}, func(t *testing.T, s *storetest.Service, rdb redis.UniversalClient) {
		ctx := t.Context()
		writes := map[string]func(job.ID) error{
			"output":         func(id job.ID) error { return s.Transcripts.Write(ctx, id, 1, 0, []byte("text")) },
			"standard error": func(id job.ID) error { return s.Transcripts.WriteStderr(ctx, id, 1, []byte("text")) },
			"a captured change": func(id job.ID) error {
				return s.SaveChange(ctx, id, lifecycle.Holder{}, store.Captured{Iteration: 1}.Parts(nil))
			},
			"a note": func(id job.ID) error { return s.Transcripts.AddNote(ctx, id, 1, "text") },
			"a conversation": func(id job.ID) error {
				_, _, err := s.Transcripts.SaveConversation(ctx, job.Job{ID: id, UserID: "u"}, "of "+string(id), lifecycle.NameTurn(id, 1), []byte("text"), 1000)
				return err
			},
			"a snapshot": func(id job.ID) error {
				return s.Changes.SaveSnapshot(ctx, id, 1, []byte("text"), func(parts map[string]any) error { return s.SaveChange(ctx, id, lifecycle.Holder{}, parts) })
			},
		}
		for name, write := range writes {
			for _, gone := range []bool{false, true} {
				j := must.Get(s.Start(ctx, newJob("u")))(t)
				if gone {
					rdb.Del(ctx, keysLike(t, rdb, "*:job:"+string(j.ID)))
				}
				before := rdb.DBSize(ctx).Val()
				must.OK(t, write(j.ID), name)
				if kept := rdb.DBSize(ctx).Val() > before; kept == gone {
					t.Errorf("%s of a job that is gone (%t) is kept: %t", name, gone, kept)
				}
			}
		}
	})
}
