package kind_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"ringback/internal/job"
	"ringback/internal/job/limit"
	"ringback/internal/rules/kind"
	"ringback/internal/rules/schema"
	"ringback/test/must"
)

func files(texts map[string]string) fstest.MapFS {
	all := fstest.MapFS{}
	for name, text := range texts {
		all[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return all
}

// problemsOf returns the problems of a source.
func problemsOf(s kind.Source) []kind.Problem {
	_, problems := kind.Load(s)
	return problems
}

func source(prompts, schemas map[string]string) kind.Source {
	return kind.Source{Prompts: files(prompts), Schemas: files(schemas), PromptsName: "p", SchemasName: "s"}
}

func load(t *testing.T, sources ...kind.Source) *kind.Registry {
	t.Helper()
	r, problems := kind.Load(sources...)
	must.OK(t, schema.Join(problems))
	return r
}

func TestLoadFillsWhatIsLeftOut(t *testing.T) {
	t.Parallel()
	r := load(t, source(map[string]string{"plain.md": "Do it.", "README.md": "About these files.", ".draft.md": "---\n"}, nil))
	k, ok := r.Get("plain")
	if !ok || len(r.All()) != 1 {
		t.Fatalf("got %v", r.Names())
	}
	want := kind.Policy{Events: "plain", Callback: kind.Curl, MaxTurns: 10, StallTimeout: 10 * time.Minute, ToolTimeout: time.Hour, MaxAttempts: 3, OnBudget: job.AskOnBudget, Priority: job.Interactive, VerifiersAtOnce: 1, Limits: limit.Defaults}
	must.Equal(t, want, k.Policy)
	for name, s := range map[string]*schema.Schema{"input": k.Input, "result": k.Result} {
		must.Equal(t, nil, s.Validate(map[string]any{"any": "thing"}), name, "refuses an object")
		if got := s.Validate([]any{}); got == nil {
			t.Errorf("%s takes an array", name)
		}
	}
	if k.Batchable() {
		t.Error("nothing is known to be a list")
	}
}

func TestLoadOverlays(t *testing.T) {
	t.Parallel()
	r := load(t,
		source(map[string]string{"a.md": "built in", "b.md": "built in"}, map[string]string{"a.input.json": `{"type":"object"}`}),
		source(map[string]string{"b.md": "the user's", "c.md": "the user's"}, map[string]string{"a.input.json": `{"required":["x"]}`}),
		kind.Source{},
	)
	got := map[string]string{}
	for _, k := range r.All() {
		got[k.Name] = k.Prompt
	}
	want := map[string]string{"a": "built in", "b": "the user's", "c": "the user's"}
	must.Equal(t, want, got)
	must.Equal(t, []string{"a", "b", "c"}, r.Names())
	a, _ := r.Get("a")
	if a.Input.Validate(map[string]any{}) == nil {
		t.Error("the user's input schema was not taken")
	}
	if _, ok := r.Get("d"); ok {
		t.Error("found a kind that is not there")
	}
}

func TestCheckTellsAllProblemsOfAllKinds(t *testing.T) {
	t.Parallel()
	closed := `{"type":"object","properties":{"date":{"type":"string"},"who":{"properties":{"name":{}},"additionalProperties":false},"open":{}},"additionalProperties":false}`
	got := problemsOf(source(map[string]string{
		"good.md":  "---\ndescription: G\n---\n{{REQUEST_ID}} {{ CALLBACK_BASE_URL }} {{HMAC_SIGNATURE}} {{input.date}} {{input.who.name}} {{input.open.any.thing}}",
		"bad.md":   "---\nmodle: x\n---\n\nHi {{input.when}} {{input.date.year}}\n{{HMAC_SECRET}} {{input.who.age}}\n{{USER}} {{input.}}",
		"Upper.md": "Hi",
		"empty.md": "---\ndescription: E\n---\n",
	}, map[string]string{
		"good.input.json": closed,
		"bad.input.json":  closed,
		"bad.result.json": "{\n\"type\": 1\n}",
		"god.result.json": `{}`,
		"notes.json":      `{}`,
	}))
	wantProblems(t, got,
		`p/Upper.md: "Upper" is not a valid name for a kind: use only lower-case letters, digits and -, beginning with a letter`,
		`p/bad.md:2: modle is not a known key (Known keys:`,
		`p/bad.md:5: {{input.date.year}}: the input schema has no field year there: string holds no fields`,
		`p/bad.md:5: {{input.when}}: the input schema has no field when (It has: date, who, open.)`,
		`p/bad.md:6: {{HMAC_SECRET}}: the secret never leaves the server (Use {{HMAC_SIGNATURE}}: it is already computed.)`,
		`p/bad.md:6: {{input.who.age}}: the input schema has no field age (It has: name.)`,
		`p/bad.md:7: {{USER}}: is not a known variable (There are`,
		`p/bad.md:7: {{input.}}: is not a known variable (There are`,
		`p/empty.md:5: the prompt is empty: there is nothing below the front matter`,
		`s/bad.result.json:2: is not a JSON Schema: at /type: `,
		`s/god.result.json: there is no prompt god.md for it`,
		`s/notes.json: its name ends neither in .input.json nor in .result.json`,
	)
}

func TestADirectoryThatIsNotThereIsSaid(t *testing.T) {
	t.Parallel()
	place := filepath.Join(t.TempDir(), "kindz")
	problems := problemsOf(kind.Source{Prompts: os.DirFS(place), PromptsName: place})
	if len(problems) != 1 || !strings.HasPrefix(problems[0].Error(), place+": there is no such directory (PROMPTS_DIR and SCHEMAS_DIR name those") {
		t.Errorf("said %v", problems)
	}
}

func TestLoadKeepsTheSoundKinds(t *testing.T) {
	t.Parallel()
	r, problems := kind.Load(source(map[string]string{"good.md": "Hi", "bad.md": "---\nx"}, nil))
	if diff := cmp.Diff([]string{"good"}, r.Names()); diff != "" || len(problems) != 1 {
		t.Errorf("%s problems: %v", diff, problems)
	}
}

func TestRenderFillsInOnce(t *testing.T) {
	t.Parallel()
	got := kind.Render("{{ input.a }} and {{REQUEST_ID}}, {not} {{}", func(name string) string { return "<" + name + "{{REQUEST_ID}}>" })
	want := "<input.a{{REQUEST_ID}}> and <REQUEST_ID{{REQUEST_ID}}>, {not} {{}"
	must.Equal(t, want, got)
}

func TestBuiltinKindsAreSound(t *testing.T) {
	t.Parallel()
	r := load(t, kind.Builtin())
	k, ok := r.Get("meal-suggestions")
	if !ok {
		t.Fatal("meal-suggestions is not built in")
	}
	if k.Policy.Events != "recipes:suggestions" || k.Policy.MaxTurns != 10 || k.Policy.Timeout != 0*time.Second || k.Policy.Description == "" {
		t.Errorf("got policy %+v", k.Policy)
	}
	if !k.Batchable() {
		t.Error("suggestions cannot be sent in batches")
	}
	must.NotContain(t, k.Prompt, "curl", "the prompt explains the callbacks: that is appended to every kind")
}

// The simulated Claude plays every kind that ships, so each schema needs an example.
func TestTheSchemasThatShipHaveExamples(t *testing.T) {
	t.Parallel()
	own := os.DirFS("../../../examples/own-kind")
	prompts, err := fs.Sub(own, "prompts")
	must.OK(t, err)
	inputs, err := fs.Sub(own, "schemas")
	must.OK(t, err)
	for _, k := range load(t, kind.Builtin(), kind.Source{Prompts: prompts, Schemas: inputs}).All() {
		all := map[string]*schema.Schema{"input": k.Input, "result": k.Result}
		for _, a := range k.Policy.Actions {
			all["action "+a.Name] = a.Schema()
		}
		for name, s := range all {
			_, err := s.Example("example")
			must.OK(t, err, k.Name, name)
		}
	}
}

// Each repository records whether it came from the request, and whether the server's
// logins may be used for it; the input cannot set that itself.
func TestRepositoriesOfAChange(t *testing.T) {
	t.Parallel()
	k := loadOwn(t, map[string]string{
		"own.md": "---\nworkspace: {repositories: [{url: /srv/own}], credentials: [github.com/org]}\n---\nChange it.",
	}, nil, "")
	c := must.Get(k.Change([]byte(`{"repos":[{"url":"https://github.com/org/x"},{"url":"https://github.com/other/x","Logins":true,"logins":true,"FromRequest":false}]}`)))(t)
	must.Equal(t, []job.Repository{
		{URL: "/srv/own"}, {URL: "https://github.com/org/x", FromRequest: true, Logins: true}, {URL: "https://github.com/other/x", FromRequest: true},
	}, c.Repositories)
}
