package job_test

import (
	"strings"
	"testing"

	"ringback/internal/job"
	"ringback/internal/text/literal"
	"ringback/test/must"
)

// In each format, a preview shows every character that a person could overlook or mistake.
func TestAPreviewHidesNothing(t *testing.T) {
	t.Parallel()
	for cell, want := range map[string]string{
		"shop":                            "shop",
		"Söhne & 日本":                      "Söhne & 日本",
		"":                                `""`,
		" a":                              `"\u0020a"`,
		"a | b":                           `"a | b"`,
		`say "yes"`:                       `"say \"yes\""`,
		"a\nb":                            `"a\nb"`,
		"shop\u202e000.1 RUE":             `"shop\u202e000.1 RUE"`,
		"r\u0430ypal":                     `"r\u0430ypal"`,
		"\u0440\u0430\u0443\u0440\u0430l": `"\u0440\u0430\u0443\u0440\u0430l"`,
		"a\u200bb":                        `"a\u200bb"`,
		"x\u2028y":                        `"x\u2028y"`,
		"\u22125":                         `"\u22125"`,
		"1\u00a0000":                      `"1\u00a0000"`,
		"\u009b2J":                        `"\u009b2J"`,
	} {
		table := &job.Preview{Format: job.PreviewTable, Columns: []string{cell, "to"}, Rows: [][]string{{"x", cell}}}
		must.Equal(t, []string{want + " | to", "x | " + want}, table.Lines(), cell)
		must.Equal(t, []string{"x", want}, table.Shown(table.Rows[0]), cell)
		for _, format := range []job.PreviewFormat{job.PreviewText, job.PreviewDiff} {
			must.Equal(t, literal.Lines(cell), job.NewPreview(format, cell).Lines(), cell)
		}
		for _, line := range append(table.Lines(), job.NewPreview(job.PreviewText, cell).Lines()...) {
			if strings.ContainsFunc(line, literal.Hidden) {
				t.Errorf("%q is shown as %q", cell, line)
			}
		}
	}
}
