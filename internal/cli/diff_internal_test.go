package cli

import (
	"strings"
	"testing"

	"ringback/internal/job"
	"ringback/test/must"
)

// A line of a file that looks like a diff header has the colour of an added or removed line, even
// in a page that begins inside a hunk. In a page that begins inside a header, headers keep their
// colour.
func TestLinesDoNotPoseAsHeaders(t *testing.T) {
	t.Parallel()
	const header = "diff --git a/x b/x\n--- a/x\n+++ b/x\n"
	const hunk = "@@ -1 +1 @@\n--- a/SECURITY.md\n+++ b/SECURITY.md\n"
	for _, c := range []struct {
		file job.FileDiff
		want string
	}{
		{job.FileDiff{Diff: header + hunk}, "bold bold bold cyan red green"},
		{job.FileDiff{Diff: "+++ b/x\n" + hunk}, "bold cyan red green"},
		{job.FileDiff{Diff: hunk, OldStart: 7, NewStart: 7}, "cyan red green"},
		{job.FileDiff{Diff: "+diff --git a/x b/x\n+@@ -1 +1 @@\n", NewStart: 1}, "green green"},
		{job.FileDiff{Diff: strings.TrimPrefix(hunk, "@@ -1 +1 @@\n"), OldStart: 1, NewStart: 1}, "red green"},
	} {
		var out strings.Builder
		printer{Writer: &out, color: true}.fileDiff(c.file)
		var got []string
		for line := range strings.Lines(out.String()) {
			code, _, _ := strings.Cut(strings.TrimPrefix(line, "\x1b["), "m")
			got = append(got, map[string]string{bold: "bold", cyan: "cyan", red: "red", green: "green"}[code])
		}
		must.Equal(t, c.want, strings.Join(got, " "), "the lines of", c.file.Diff)
	}
}
