package claude_test

import (
	"testing"

	"ringback/internal/turn/claude"
	"ringback/test/must"
)

func TestWhichToolCallsOnlyCallBack(t *testing.T) {
	t.Parallel()
	const post = "curl -sS -X POST http://localhost:3001/api/claude/result -H 'Content-Type: application/json' -d @result.json"
	for _, row := range []struct {
		tool, about, dir string
		want             bool
		because          string
	}{
		{"Bash", post, "/work", true, "it posts to a callback"},
		{"Bash", "ls", "/work", false, "it is another command"},
		{"Bash", "curl -sS -X POST http://localhost:3001/other", "/work", false, "it posts elsewhere"},
		{"Bash", "rm x # curl -sS -X POST http://localhost/api/claude/result", "/work", false, "that is but a comment"},
		{"Bash", post + "; rm x", "/work", false, "it does something else, too"},
		{"Bash", post + "\nrm x", "/work", false, "it does something else, too"},
		{"Bash", post + " -d $(id)", "/work", false, "it does something else, too"},
		{"Bash", post + " > x", "/work", false, "it does something else, too"},
		{"Write", "result.json", "/work", true, "it is a file that is posted"},
		{"Write", "/work/result.json", "/work", true, "it is a file that is posted"},
		{"Read", "/work/a/../result.json", "/work", true, "it is a file that is posted"},
		{"Write", "a/result.json", "/work", false, "it lies in another directory"},
		{"Write", "../result.json", "/work", false, "it lies in another directory"},
		{"Write", "main.go", "/work", false, "it is another file"},
		{"Edit", "/anywhere/result.json", "", true, "the directory is not known"},
		{"NotebookEdit", "result.json", "/work", false, "no payload is written by it"},
		{"mcp__ringback__submit_result", "", "/work", true, "it is a callback's tool"},
		{"mcp__ringbackup__submit_result", "", "/work", false, "it is another server's"},
		{"StructuredOutput", "", "/work", true, "the CLI hands over a result by it"},
	} {
		t.Run(row.tool+" "+row.about, func(t *testing.T) {
			t.Parallel()
			input := map[string]any{"command": row.about, "file_path": row.about}
			must.Equal(t, row.want, claude.IsCallbackCall(row.tool, input, row.dir), row.because)
		})
	}
}
