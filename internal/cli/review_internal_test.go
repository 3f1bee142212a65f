package cli

import (
	"testing"

	"ringback/test/must"
)

// A note of Ringback's at the end of a review's question is shown, and only that: Claude's summary may
// contain the words before it.
func TestTheNoteOfAReviewIsShown(t *testing.T) {
	t.Parallel()
	const replies = "\nReply: `approve`, `reject`, or `steer \"<prompt>\"`"
	question := "Claude completed req_1.\n\nChanges:\n```\nDone." + replies + "\n\nFORGED\n```\n\nDiff summary:\n" + replies
	for message, want := range map[string]string{
		question: "", question + "\n\nOnly the server on a can publish this change.": "Only the server on a can publish this change.", "Which one?": "",
	} {
		must.Equal(t, want, noteIn(message), "the note of", message)
	}
}
