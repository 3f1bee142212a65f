package markdown_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ringback/test/markdown"
	"ringback/test/must"
)

// doc replaces ' by a backquote, which a raw string cannot contain.
func doc(text string) []byte { return []byte(strings.ReplaceAll(text, "'", "`")) }

func TestBlocksSpansAndLinks(t *testing.T) {
	t.Parallel()
	got, err := markdown.Parse(doc(`# A title, with 'ringback list'

'''sh terminal=server
ringback serve
'''

| a | b |
| --- | --- |
| 'x' | see [there](docs/there.md) and 'a\|b' |

- in a list:
  '''yaml file=task.yaml
  prompt: x
    y: z
  '''

'''text
'''
`))
	want := markdown.Document{
		Blocks: []markdown.Block{
			{Line: 4, Language: "sh", Terminal: "server", Text: "ringback serve\n"},
			{Line: 13, Language: "yaml", File: "task.yaml", Text: "prompt: x\n  y: z\n"},
			{Language: "text"},
		},
		Spans:   []markdown.Text{{Line: 1, Text: "ringback list"}, {Line: 9, Text: "x"}, {Line: 9, Text: "a|b"}},
		Links:   []markdown.Text{{Line: 9, Text: "docs/there.md"}},
		Anchors: []string{"a-title-with-ringback-list"},
		Rows:    []markdown.Row{{Line: 9, Cells: map[string][]string{"a": {"x"}, "b": {"a|b"}}}},
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("Parse: %v (-want +got):\n%s", err, diff)
	}
}

func TestAnInfoStringThatMeansNothingIsNamed(t *testing.T) {
	t.Parallel()
	for _, info := range []string{"sh terminal=", "sh skip", "sh file", "sh terminal=a norun"} {
		if _, err := markdown.Parse(doc("\n'''" + info + "\nls\n'''\n")); err == nil || !strings.Contains(err.Error(), "line 2") {
			t.Errorf("%q: %v", info, err)
		}
	}
}

func TestIndentedCodeIsRefused(t *testing.T) {
	t.Parallel()
	if _, err := markdown.Parse(doc("Type:\n\n    ringback list\n")); err == nil || !strings.Contains(err.Error(), "line 3") {
		t.Errorf("indented code: %v", err)
	}
}

func TestCommands(t *testing.T) {
	t.Parallel()
	block := markdown.Block{Line: 10, Text: `# what follows
make run    # builds; Ctrl-C stops it
# Ringback listens
#   on …

# not its output
curl -d @- <<END
# not a comment
{"a": "$B"}
END
# {"success":true}

ringback run \
  --field x=y  # a remark
ringback a | jq '.b # c'
`}
	want := []markdown.Command{
		{Line: 11, Source: "make run    # builds; Ctrl-C stops it\n# Ringback listens\n#   on …\n\n# not its output", Remark: "builds; Ctrl-C stops it", Output: " Ringback listens\n   on …\n"},
		{Line: 16, Source: "curl -d @- <<END\n# not a comment\n{\"a\": \"$B\"}\nEND\n# {\"success\":true}", Output: " {\"success\":true}\n"},
		{Line: 22, Source: "ringback run \\\n  --field x=y  # a remark", Remark: "a remark"},
		{Line: 24, Source: "ringback a | jq '.b # c'"},
	}
	got, err := block.Commands()
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("Commands: %v (-want +got):\n%s", err, diff)
	}
	if _, err := (markdown.Block{Line: 7, Text: "ringback 'oops\n"}).Commands(); err == nil {
		t.Error("an open quote is taken for a command")
	}
}

func TestPrinted(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		shown, output string
		want          bool
	}{
		"nothing shown":               {"", "anything", true},
		"a part":                      {"b", "abc", true},
		"spaces do not count":         {"a b\n c", "xab\tcx", true},
		"left out":                    {`{"id":"req_…","n":1}`, `{"id": "req_06_abc", "n": 1}`, true},
		"in this order":               {"a…b", "b a", false},
		"another value":               {`{"n":1}`, `{"n":2}`, false},
		"each part only once":         {"a…a", "a", false},
		"something left out at first": {"… listens on …", "Ringback listens on http://x\n", true},
	} {
		must.Equal(t, c.want, markdown.Printed(c.shown, c.output), name)
	}
}
