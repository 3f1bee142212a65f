package job_test

import (
	"fmt"
	"testing"

	"ringback/internal/job"
	"ringback/test/must"
)

// In a hunk, only the sign of a line counts, and a header ends a hunk.
func TestLinesOfADiff(t *testing.T) {
	t.Parallel()
	const header = "diff --git a/x b/x\n--- a/x\n+++ b/x\n"
	for name, c := range map[string]struct {
		file job.FileDiff
		want []string
	}{
		"a whole file": {
			job.FileDiff{Diff: header + "@@ -3,2 +4 @@ func f() {\n a\n-b\n+c\n\\ No newline at end of file\n"},
			[]string{"header", "header", "header", "@", "  3 4 a", "- 4 5 b", "+ 5 5 c", `\`},
		},
		"a page that begins in a hunk": {
			job.FileDiff{Diff: "--- a/x\n+++ b/x\n", OldStart: 7, NewStart: 8}, []string{"- 7 8 -- a/x", "+ 8 8 ++ b/x"},
		},
		"two sections": {
			job.FileDiff{Diff: header + "@@ -1 +0,0 @@\n-a\n" + header + "@@ -0,0 +1 @@\n+a\n"},
			[]string{"header", "header", "header", "@", "- 1 0 a", "header", "header", "header", "@", "+ 0 1 a"},
		},
		"a long line in pieces": {
			job.FileDiff{Diff: "@@ -1 +1,2 @@\n+a\n" + job.LineContinues + "\n+b\n+c\n"},
			[]string{"@", "+ 1 1 a", `\`, "+ 1 1 b", "+ 1 2 c"},
		},
	} {
		var got []string
		for line := range c.file.Lines() {
			switch line.Kind {
			case job.DiffHeader:
				got = append(got, "header")
			case job.DiffHunk, job.DiffNote:
				got = append(got, string(line.Kind))
			default:
				got = append(got, fmt.Sprintf("%c %d %d %s", line.Kind, line.Old, line.New, line.Text))
			}
		}
		must.Equal(t, c.want, got, name)
	}
}
