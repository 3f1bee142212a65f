package cli

import (
	"strings"
	"testing"

	"ringback/internal/job"
	"ringback/test/must"
)

// Each row of what Claude is writing follows a bar, however the text is divided into pieces.
func TestNoRowOfWrittenTextIsOurs(t *testing.T) {
	t.Parallel()
	for want, pieces := range map[string][]string{
		"│ one\n│ received after 9\n│\n│ x\n":      {"one\nreceived", " after 9\n\nx"},
		"│ a long line of w\n│ ords\n│ [PASS]\n":   {"a long line of words\n[PA", "SS]"},
		"│ 1234567890123456\n│ received\n":         {"1234567890123456", "received"},
		"│ 界界界界界界界界\n│ 界\n":                        {"界界界界界界界界界"},
		"│ \uFFFD[1A\uFFFD[2K\uFFFDreceive\n│ d\n": {"\x1b[1A\x1b[2K\rreceived"},
	} {
		var out strings.Builder
		w := &written{p: printer{Writer: &out, columns: 19}}
		for i, piece := range pieces {
			w.show(job.TextPiece{Turn: 1, Block: 1, Piece: i + 1, Text: piece})
		}
		w.end()
		var rows []string
		for row := range strings.SplitSeq(out.String(), "\n") {
			rows = append(rows, strings.TrimRight(row, " "))
		}
		must.Equal(t, want, strings.Join(rows, "\n"), pieces)
	}
}
