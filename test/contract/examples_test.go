package contract

import (
	"bytes"
	"encoding/json"
	"os"
	"regexp"

	"ringback/test/must"
)

// plain contains the texts that differ from run to run, and their replacements in examples.
var plain = []struct {
	found *regexp.Regexp
	shown string
}{
	{regexp.MustCompile(`\b(req|chk|ses|apr|run|call)_(\d\d_)?[a-z2-7]{10,}`), "${1}_${2}k3mw7xq2pzr5nd4b6hvtcgyafe"},
	{regexp.MustCompile(`_\d\d_k3mw`), "_06_k3mw"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z`), "2026-03-02T18:00:00Z"},
	{regexp.MustCompile(`"\d{16}"`), `"1772474400000000"`},
	{regexp.MustCompile(`\b[0-9a-f]{64}\b`), "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"},
	{regexp.MustCompile(`\b[0-9a-f]{40}\b`), "9de30a3c1c5b5d3e1f2a4b6c7d8e9f0a1b2c3d4e"},
	{regexp.MustCompile(`http://127\.0\.0\.1:\d+`), "http://localhost:3001"},
	{regexp.MustCompile(`/tmp/[^"\\ ]*/service`), "/srv/git/service"},
}

// most is the maximum length of an example in bytes.
const most = 6000

// writeExamples writes the recorded exchanges to the file from which the contracts take their
// examples.
func (s *session) writeExamples(events map[string]any) {
	for name, e := range s.recorded {
		if text, err := json.Marshal(e); err != nil || len(text) > most {
			delete(s.recorded, name)
		}
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	must.OK(s, enc.Encode(object{"operations": s.recorded, "messages": events}))
	text := out.Bytes()
	for _, p := range plain {
		text = p.found.ReplaceAll(text, []byte(p.shown))
	}
	must.OK(s, os.WriteFile(examples, text, 0o600))
}
