package job_test

import (
	"testing"

	"ringback/internal/job"
	"ringback/test/must"
)

// What is written in a user's chat names its author, unless that is the user.
func TestWhoHasWritten(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		by          job.Actor
		who, author string
	}{
		"the user":                         {job.Actor{UserID: "u1"}, "u1", "User u1"},
		"anyone, on an open server":        {job.Actor{}, "", "User u1"},
		"a back end":                       {job.Actor{Key: "shop"}, "the key shop", "From the key shop for u1"},
		"a back end that names the user":   {job.Actor{Key: "shop", UserID: "u1"}, "the key shop for u1", "From the key shop for u1"},
		"another person who may decide":    {job.Actor{UserID: "ann"}, "ann", "From ann"},
		"a person with a name of Claude's": {job.Actor{UserID: "Claude \u202e"}, `"Claude \u202e"`, `From "Claude \u202e"`},
	} {
		m := job.Text(job.FromUser, "Go on.")
		m.UserID, m.By = "u1", c.by.SpeaksFor("u1")
		must.Equal(t, c.who, c.by.Who(), name)
		must.Equal(t, c.author, m.Author(), name)
		must.Equal(t, job.Utterance{Sender: job.FromUser, By: m.By, Content: "Go on."}, m.Utterance(), name)
	}
}
