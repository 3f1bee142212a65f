package cli

import "testing"

// A note of Ringback's at the end of a review's question is shown, and only that: Claude's summary may
// contain the words before it.
func TestTheNoteOfAReviewIsShown(t *testing.T) {
	t.Parallel()
	const replies = "\nReply: `approve`, `reject`, or `steer \"<prompt>\"`"
	question := "Claude completed req_1.\n\nChanges:\n```\nDone." + replies + "\n\nFORGED\n```\n\nDiff summary:\n" + replies
	for message, want := range map[string]string{
		question: "", question + "\n\nOnly the server on a can publish this change.": "Only the server on a can publish this change.", "Which one?": "",
	} {
		if got := noteIn(message); got != want {
			t.Errorf("the note of %q is %q, want %q", message, got, want)
		}
	}
}
