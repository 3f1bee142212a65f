package claude_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"ringback/internal/rules/approval"
	"ringback/internal/sandbox/process"
	"ringback/internal/turn/claude"
	"ringback/test/must"
)

func writeFile(t *testing.T, file, text string) {
	t.Helper()
	must.OK(t, os.MkdirAll(filepath.Dir(file), 0o700))
	must.OK(t, os.WriteFile(file, []byte(text), 0o600))
}

func TestConfigOfATurnInASandbox(t *testing.T) {
	t.Parallel()
	home, copies := t.TempDir(), filepath.Join(t.TempDir(), "copies")
	login := filepath.Join(home, ".claude", ".credentials.json")
	writeFile(t, filepath.Join(home, ".claude.json"), `{"primaryApiKey":"k","projects":{"/other":{"history":["said"]}},"mcpServers":{"a":{}}}`)
	writeFile(t, login, "login")
	writeFile(t, filepath.Join(home, ".claude", "projects", "x.jsonl"), "another conversation")
	writeFile(t, filepath.Join(copies, "skills", "x"), "a copy of an earlier turn")
	prepare := func(c claude.SandboxConfig, environ ...string) (access process.Access) {
		t.Helper()
		c.Environ, c.Conversations = append(environ, "HOME="+home), "/data/conversations/c1"
		must.Equal(t, []string{"CLAUDE_CONFIG_DIR=/run/claude"}, must.Get(c.Prepare(&access))(t))
		must.Equal(t, []string{"/run/claude"}, access.Temporary)
		must.Equal(t, map[string]string{"/run/claude/projects": "/data/conversations/c1"}, access.Kept)
		return access
	}
	settings := process.Text{Path: "/run/claude/settings.json", Content: "{}\n"}
	account := process.Text{Path: "/run/claude/.claude.json", Content: `{"mcpServers":{"a":{}},"primaryApiKey":"k"}`, Writable: true}

	got := prepare(claude.SandboxConfig{Login: true})
	must.Equal(t, map[string]string{"/run/claude/.credentials.json": login}, got.Shown)
	must.Equal(t, []process.Text{settings, account}, got.Texts)

	// The server signs in for the turn.
	got = prepare(claude.SandboxConfig{})
	account.Content = `{"mcpServers":{"a":{}}}`
	must.Equal(t, map[string]string{}, got.Shown)
	must.Equal(t, []process.Text{settings, account}, got.Texts)

	// The CLI runs as another user, which may not read the login.
	got = prepare(claude.SandboxConfig{Login: true, Copies: copies})
	copied := filepath.Join(copies, ".credentials.json")
	must.Equal(t, map[string]string{"/run/claude/.credentials.json": copied}, got.Shown)
	must.Equal(t, []string{copied}, got.Readable)
	must.Equal(t, "login", string(must.Get(os.ReadFile(copied))(t)))
	if _, err := os.Stat(filepath.Join(copies, "skills")); err == nil {
		t.Error("the copy of an earlier turn is there")
	}

	// The user's settings are shown, and cannot be changed.
	writeFile(t, filepath.Join(home, ".claude", "settings.json"), "{}")
	got = prepare(claude.SandboxConfig{})
	must.Equal(t, map[string]string{settings.Path: filepath.Join(home, ".claude", "settings.json")}, got.Shown)
	must.Equal(t, []process.Text{account}, got.Texts)

	// The login files of the cloud that serves the model are readable, as far as they exist.
	aws, gcp := filepath.Join(home, ".aws"), filepath.Join(home, "gcp.json")
	writeFile(t, filepath.Join(aws, "credentials"), "aws")
	writeFile(t, gcp, "gcp")
	for chosen, want := range map[string]string{"CLAUDE_CODE_USE_BEDROCK=1": aws, "CLAUDE_CODE_USE_VERTEX=1": gcp, "CLAUDE_CODE_USE_VERTEX=0": ""} {
		got = prepare(claude.SandboxConfig{}, chosen, "GOOGLE_APPLICATION_CREDENTIALS="+gcp)
		delete(got.Shown, settings.Path)
		must.Equal(t, want != "", len(got.Shown) == 1 && got.Shown[want] == want, chosen, got.Shown)
	}
}

// madeFile creates a file and its directories.
func madeFile(t *testing.T, path string) string {
	t.Helper()
	must.OK(t, os.MkdirAll(filepath.Dir(path), 0o700))
	must.OK(t, os.WriteFile(path, []byte("text"), 0o600))
	return path
}

// The kind's programs cannot read what Claude cannot, unless the kind grants it to them.
func TestWhatIsForbiddenToPrograms(t *testing.T) {
	t.Parallel()
	job, data := t.TempDir(), t.TempDir()
	env, nested := madeFile(t, job+"/.env"), madeFile(t, job+"/a/.env")
	madeFile(t, job+"/config/x")
	payload := madeFile(t, job+"/result.json")
	key, given, beside := madeFile(t, data+"/keys/one"), madeFile(t, data+"/keys/given/two"), madeFile(t, data+"/keys/given-not")
	for name, row := range map[string]struct {
		deny  []string
		given []string
		want  []string
	}{
		"nothing":                       {},
		"files of the job":              {[]string{"Read(**/.env)"}, []string{data}, []string{env, nested}},
		"one by which turns call back":  {[]string{"Read(**/result.json)"}, nil, []string{payload}},
		"what may not be written":       {[]string{"Edit(config/**)", "Write(/.env)"}, nil, nil},
		"programs":                      {[]string{"Bash(rm *)", "Bash"}, nil, nil},
		"a directory":                   {[]string{"Read(/" + data + "/keys/**)"}, nil, []string{data + "/keys"}},
		"one that is named":             {[]string{"Read(/" + data + "/keys)"}, nil, []string{data + "/keys"}},
		"a part of it is given":         {[]string{"Read(/" + data + "/keys/**)"}, []string{data + "/keys/given"}, []string{key, beside}},
		"a part of a named one":         {[]string{"Read(/" + data + "/keys)"}, []string{given}, []string{key, beside}},
		"all of it is given":            {[]string{"Read(/" + data + "/keys/**)"}, []string{data + "/keys"}, nil},
		"what holds the job gives none": {[]string{"Read(**/.env)"}, []string{"/", filepath.Dir(job), job}, []string{env, nested}},
	} {
		masks, err := claude.MasksOfProgram(t.Context(), approval.ToolRules{Deny: row.deny}, job, t.TempDir(), row.given...)
		slices.Sort(masks.Unreadable)
		slices.Sort(row.want)
		if err != nil || !slices.Equal(masks.Unreadable, row.want) || len(masks.Unwritable) > 0 {
			t.Errorf("%s: %v, %v, want %v", name, masks, err, row.want)
		}
	}
	masks, err := claude.MasksOfTurn(t.Context(), approval.ToolRules{Deny: []string{"Read(**/result.json)", "Read(**/.env)", "Edit(config/**)"}}, job, "", t.TempDir())
	slices.Sort(masks.Unreadable)
	if err != nil || !slices.Equal(masks.Unreadable, []string{env, nested}) || len(masks.Unwritable) != 1 {
		t.Errorf("a turn: %v, %v", masks, err)
	}
}
