package cli

import (
	"strings"
	"testing"

	"ringback/internal/job"
)

// A line of a file that reads like a header of the diff has the colour of an added or removed line.
func TestLinesDoNotPoseAsHeaders(t *testing.T) {
	t.Parallel()
	const header = "diff --git a/x b/x\n--- a/x\n+++ b/x\n"
	const hunk = "@@ -1 +1 @@\n--- a/SECURITY.md\n+++ b/SECURITY.md\n"
	for _, c := range []struct{ diff, want string }{
		{header + hunk, "bold bold bold cyan red green"},
		{hunk, "cyan red green"},
		{strings.TrimPrefix(hunk, "@@ -1 +1 @@\n"), "red green"}, // a page that begins within a hunk
	} {
		var out strings.Builder
		printer{Writer: &out, color: true}.fileDiff(job.FileDiff{Path: "x", Diff: c.diff})
		var got []string
		for line := range strings.Lines(out.String()) {
			code, _, _ := strings.Cut(strings.TrimPrefix(line, "\x1b["), "m")
			got = append(got, map[string]string{bold: "bold", cyan: "cyan", red: "red", green: "green"}[code])
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("the lines of %q are %q, want %s", c.diff, got, c.want)
		}
	}
}
