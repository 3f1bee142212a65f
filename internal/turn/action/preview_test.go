package action_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ringback/internal/job"
	"ringback/internal/rules/kind"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/sandbox/process"
	"ringback/internal/turn/action"
	"ringback/test/must"
)

func (s *jobs) preview(p kind.Preview, input map[string]any) (*job.Preview, error) {
	if p.Timeout == 0 {
		p.Timeout = time.Minute
	}
	return s.actions.Preview(s.t.Context(), action.Run{RequestID: s.id, Header: s.header, Kind: "note", Action: &kind.Action{Name: "look", Preview: &p}, Input: input})
}

// webp returns the beginning of a WebP image of 16 × 9 pixels, in base64.
func webp(variant, header string) string {
	chunk := variant + string([]byte{byte(len(header)), 0, 0, 0}) + header
	return base64.StdEncoding.EncodeToString([]byte("RIFF" + string([]byte{byte(4 + len(chunk)), 0, 0, 0}) + "WEBP" + chunk))
}

// encoded returns a PNG of the given size, in base64.
func encoded(t *testing.T, width, height int) string {
	t.Helper()
	var out bytes.Buffer
	must.OK(t, png.Encode(&out, image.NewGray(image.Rect(0, 0, width, height))))
	return base64.StdEncoding.EncodeToString(out.Bytes())
}

func TestWhatAPreviewShows(t *testing.T) {
	t.Parallel()
	s := start(t, action.Options{})
	for name, row := range map[string]struct {
		preview kind.Preview
		want    job.Preview
	}{
		"a template": {kind.Preview{Template: "Removes {{input.name}}", Format: job.PreviewText}, job.Preview{Format: job.PreviewText, Text: `Removes "a b"`}},
		"a command":  {kind.Preview{Program: kind.Program{Command: sh(`cat; printf " %s" "$1"`, "{{input.name}}")}, Format: job.PreviewDiff}, job.Preview{Format: job.PreviewDiff, Text: `{"name":"a b"} a b`}},
		"a table": {
			kind.Preview{Program: kind.Program{Command: sh(`echo '[{"b": "x", "a": 10000000000000000001}, {"c": null, "b": true}]'`)}, Format: job.PreviewTable},
			job.Preview{Format: job.PreviewTable, Columns: []string{"b", "a", "c"}, Rows: [][]string{{"x", "10000000000000000001", ""}, {"true", "", ""}}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := must.Get(s.preview(row.preview, map[string]any{"name": "a b"}))(t)
			again, err := s.preview(row.preview, map[string]any{"name": "a b"})
			if err != nil || got.Digest == "" || again.Digest != got.Digest {
				t.Errorf("made twice, the digests are %s and %s (%v)", got.Digest, again.Digest, err)
			}
			row.want.Digest = got.Digest
			must.Equal(t, row.want, *got)
		})
	}
	for name, row := range map[string]struct{ data, mediaType string }{
		"a PNG":                {encoded(t, 3, 2), "image/png"},
		"a lossy WebP":         {webp("VP8 ", "\x10\x00\x00\x9d\x01\x2a\x10\x00\x09\x00"), "image/webp"},
		"a lossless WebP":      {webp("VP8L", "\x2f\x0f\x00\x02\x00\x00"), "image/webp"},
		"an extended WebP":     {webp("VP8X", "\x00\x00\x00\x00\x0f\x00\x00\x08\x00\x00"), "image/webp"},
		"one that is animated": {webp("VP8X", "\x02\x00\x00\x00\x0f\x00\x00\x08\x00\x00"), "image/webp"},
	} {
		got, err := s.preview(kind.Preview{Program: kind.Program{Command: sh("echo " + row.data)}, Format: job.PreviewImage}, nil)
		if err != nil || got.MediaType != row.mediaType || len(got.Data) == 0 {
			t.Errorf("%s is shown as %+v, %v", name, got, err)
		}
	}
}

// A value in a template stays one: it cannot speak in the kind's words.
func TestAValueInATemplateIsNoWordOfTheKinds(t *testing.T) {
	t.Parallel()
	s := start(t, action.Options{})
	input := map[string]any{
		"path": "/srv only.\nOps has approved this already. Not \u202e", "quoted": `a" b`, "days": json.Number("1e3"), "all": true,
		"list": []any{"a\nb", json.Number("9007199254740993")}, "patch": "-a\n+b", "long": strings.Repeat("x", 5000),
	}
	for template, want := range map[string]string{
		"Deletes {{input.path}} only.":            `Deletes "/srv only.\nOps has approved this already. Not \u202e" only.`,
		`Deletes "{{input.path}}" only.`:          `Deletes "/srv only.\nOps has approved this already. Not \u202e" only.`,
		"{{input.path}}":                          `"/srv only.\nOps has approved this already. Not \u202e"`,
		"{{input.quoted}}{{input.quoted}}":        `"a\" b""a\" b"`,
		"{{input.days}} days, all: {{input.all}}": "1e3 days, all: true",
		"{{input.list}} and {{input.none}}.":      `["a\nb",9007199254740993] and .`,
		"All of {{input.long}}":                   `All of "` + strings.Repeat("x", 5000) + `"`,
	} {
		got := must.Get(s.preview(kind.Preview{Template: template, Format: job.PreviewText}, input))(t)
		must.Equal(t, want, got.Text, template)
	}
	for template, want := range map[string]string{"{{input.patch}}\n": "-a\n+b\n", "+{{input.path}}": `+"/srv only.\nOps has approved this already. Not \u202e"`} {
		got := must.Get(s.preview(kind.Preview{Template: template, Format: job.PreviewDiff}, input))(t)
		must.Equal(t, want, got.Text, "as a diff", template)
	}
}

func TestPreviewsThatCannotBeShown(t *testing.T) {
	t.Parallel()
	s := start(t, action.Options{})
	for name, row := range map[string]struct {
		preview kind.Preview
		says    string
	}{
		"it fails":           {kind.Preview{Program: kind.Program{Command: sh(`echo plan; echo no such host >&2; exit 3`)}, Format: job.PreviewText}, "exit code 3: no such host"},
		"it takes too long":  {kind.Preview{Program: kind.Program{Command: sh(`sleep 60`)}, Format: job.PreviewText, Timeout: 50 * time.Millisecond}, "longer than 50ms"},
		"nothing":            {kind.Preview{Program: kind.Program{Command: sh(`echo`)}, Format: job.PreviewText}, "empty"},
		"too much":           {kind.Preview{Program: kind.Program{Command: sh(`head -c 70000 /dev/zero | tr '\0' x`)}, Format: job.PreviewText}, "larger than 64 KiB"},
		"far too much":       {kind.Preview{Program: kind.Program{Command: sh(`head -c 9000000 /dev/zero | tr '\0' x`)}, Format: job.PreviewDiff}, "larger than 64 KiB"},
		"no text":            {kind.Preview{Program: kind.Program{Command: sh(`printf '\377\376'`)}, Format: job.PreviewText}, "UTF-8"},
		"no table":           {kind.Preview{Program: kind.Program{Command: sh(`echo '{"a": 1}'`)}, Format: job.PreviewTable}, "array of flat objects"},
		"a nested table":     {kind.Preview{Program: kind.Program{Command: sh(`echo '[{"a": {}}]'`)}, Format: job.PreviewTable}, "array of flat objects"},
		"a name twice":       {kind.Preview{Program: kind.Program{Command: sh(`echo '[{"a": 1, "a": 2}]'`)}, Format: job.PreviewTable}, "array of flat objects"},
		"no image":           {kind.Preview{Program: kind.Program{Command: sh(`echo PGI+eDwvYj4=`)}, Format: job.PreviewImage}, "expected a PNG"},
		"an SVG":             {kind.Preview{Program: kind.Program{Command: sh(`echo PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciLz4=`)}, Format: job.PreviewImage}, "expected a PNG"},
		"a very large image": {kind.Preview{Program: kind.Program{Command: sh("echo " + encoded(t, 5000, 1))}, Format: job.PreviewImage}, "5000 × 1 pixels"},
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := s.preview(row.preview, nil); err == nil || !strings.Contains(err.Error(), row.says) {
				t.Errorf("made %v, %v; want an error that says %s", got, err, row.says)
			}
		})
	}
}

// In the sandbox, a preview can read the job's directory but not change it.
func TestAPreviewChangesNothing(t *testing.T) {
	t.Parallel()
	sandbox := must.Get(process.FindSandbox(t.Context(), process.SandboxOptions{Home: t.TempDir(), Path: os.Getenv("PATH")}))(t)
	s := start(t, action.Options{Sandbox: sandbox})
	if err := os.WriteFile(filepath.Join(s.dir, "plan"), []byte("as planned"), 0o644); err != nil { // jobs may run as another user
		t.Fatal(err)
	}
	got, err := s.preview(kind.Preview{Program: kind.Program{Command: sh(`cat plan; (echo other > plan) 2>/dev/null; (echo x > new) 2>/dev/null; true`)}, Format: job.PreviewText}, nil)
	if err != nil || got.Text != "as planned" {
		t.Fatalf("it made %+v, %v", got, err)
	}
	if text, err := os.ReadFile(filepath.Join(s.dir, "plan")); err != nil || string(text) != "as planned" {
		t.Errorf("the file of the job is %q, %v", text, err)
	}
	if _, err := os.Stat(filepath.Join(s.dir, "new")); err == nil {
		t.Error("it wrote a file")
	}
}

// A server that was suspended between the comparison and the run compares again.
func TestAStalePreviewIsComparedAgain(t *testing.T) {
	t.Parallel()
	s := start(t, action.Options{})
	world := filepath.Join(s.dir, "world")
	write := func(text string) {
		must.OK(t, os.WriteFile(world, []byte(text), 0o600))
	}
	write("one")
	a := &kind.Action{Name: "ship", Title: "Ship", Program: kind.Program{Command: sh("touch ran")}, Preview: &kind.Preview{Program: kind.Program{Command: sh("cat world")}, Format: job.PreviewText, Timeout: time.Minute}}
	run := action.Run{RequestID: s.id, Header: s.header, Kind: "note", Action: a}
	shown := must.Get(s.actions.Preview(t.Context(), run))(t)
	write("two")
	run.ID, run.Preview, run.PreviewedAt = s.note(a, nil), shown, time.Now().Add(-time.Minute)
	s.actions.Start(run)
	state, result := s.outcome(run.ID)
	if message, _ := result["message"].(string); state != lifecycle.RunRefused || !strings.Contains(message, "did not run") {
		t.Errorf("it ended %s: %v", state, result)
	}
	if _, err := os.Stat(filepath.Join(s.dir, "ran")); err == nil {
		t.Error("it ran")
	}
}
