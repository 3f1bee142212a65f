package lifecycle

import (
	"strings"
	"testing"

	"ringback/internal/job"
	"ringback/test/must"
)

// Whoever ends a job learns what of its change is public, also from the record of an earlier version.
func TestTheEndOfAJobStatesWhatIsPublic(t *testing.T) {
	t.Parallel()
	const earlier = "Already published: app, as abc."
	now := []job.Published{{Repository: "app", Branch: "ringback/x", Commit: "abc"}}
	for name, c := range map[string]struct {
		set  func(j *Job)
		want string
	}{
		"nothing is":              {func(*Job) {}, ""},
		"a commit is":             {func(j *Job) { j.PublishedCommits = now }, job.PublishedWords(now)},
		"an earlier version knew": {func(j *Job) { j.PublicSoFar = earlier }, earlier},
		"it was published again":  {func(j *Job) { j.PublicSoFar, j.PublishedCommits = earlier, now }, job.PublishedWords(now)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st := jobIn("running")
			c.set(st.Job)
			must.OK(t, st.finish(st.Job, job.Cancelled, nil))
			var got strings.Builder
			for _, e := range st.Effects {
				if put, ok := e.(PutMessage); ok && put.Message.MessageType == job.NoticeMessage {
					got.WriteString(put.Message.Content)
				}
			}
			must.Equal(t, c.want, got.String(), "the notice in the chat")
		})
	}
}
