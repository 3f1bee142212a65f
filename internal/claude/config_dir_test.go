package claude_test

import (
	"os"
	"path/filepath"
	"testing"

	"ringback/internal/claude"
	"ringback/test/must"
)

func writeFile(t *testing.T, file, text string) {
	t.Helper()
	must.OK(t, os.MkdirAll(filepath.Dir(file), 0o700))
	must.OK(t, os.WriteFile(file, []byte(text), 0o600))
}

func TestConfigDirOfATurn(t *testing.T) {
	t.Parallel()
	home, dir, outside := t.TempDir(), filepath.Join(t.TempDir(), "config"), filepath.Join(t.TempDir(), "outside")
	writeFile(t, filepath.Join(home, ".claude.json"), `{"primaryApiKey":"k","projects":{"/other":{"history":["said"]}},"mcpServers":{"a":{}}}`)
	writeFile(t, filepath.Join(home, ".claude", ".credentials.json"), "login")
	writeFile(t, filepath.Join(home, ".claude", "projects", "x.jsonl"), "another conversation")
	writeFile(t, outside, "outside")
	// Files that an earlier turn may have left.
	writeFile(t, filepath.Join(dir, "projects", "mine.jsonl"), "mine")
	writeFile(t, filepath.Join(dir, "hooks", "x"), "planted")
	writeFile(t, filepath.Join(dir, ".claude.json.link"), "")
	for _, name := range []string{".claude.json", "settings.json", ".credentials.json"} {
		must.OK(t, os.Symlink(outside, filepath.Join(dir, name)))
	}
	got := must.Get(claude.PrepareConfigDir(dir, []string{"HOME=" + home}, true, false))(t)
	for file, want := range map[string]string{
		filepath.Join(dir, ".claude.json"): `{"mcpServers":{"a":{}},"primaryApiKey":"k"}`, filepath.Join(dir, "settings.json"): "{}\n",
		filepath.Join(dir, "projects", "mine.jsonl"): "mine", outside: "outside", filepath.Join(dir, ".credentials.json"): "",
	} {
		if text, err := os.ReadFile(file); err != nil || string(text) != want {
			t.Errorf("%s holds %q, %v, want %q", file, text, err, want)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "hooks")); err == nil {
		t.Error("what an earlier turn has planted is there")
	}
	if got.Shown[filepath.Join(dir, ".credentials.json")] != filepath.Join(home, ".claude", ".credentials.json") || len(got.Shown) != 2 {
		t.Errorf("shown are %v", got.Shown)
	}
	// The server signs in for the turn.
	got = must.Get(claude.PrepareConfigDir(dir, []string{"HOME=" + home}, false, false))(t)
	if text, err := os.ReadFile(filepath.Join(dir, ".claude.json")); err != nil || string(text) != `{"mcpServers":{"a":{}}}` || len(got.Shown) != 1 {
		t.Errorf("without a login, there is %s, %v, and shown are %v", text, err, got.Shown)
	}
	// The CLI runs as another user, which may not read the login.
	got = must.Get(claude.PrepareConfigDir(dir, []string{"HOME=" + home}, true, true))(t)
	copied := filepath.Join(dir, ".credentials.json")
	if text, err := os.ReadFile(copied); err != nil || string(text) != "login" || got.Shown[copied] != copied {
		t.Errorf("the copy of the login holds %q, %v, and shown are %v", text, err, got.Shown)
	}
	// The login files of the cloud that serves the model are readable, as far as they exist.
	aws, gcp := filepath.Join(home, ".aws"), filepath.Join(home, "gcp.json")
	writeFile(t, filepath.Join(aws, "credentials"), "aws")
	writeFile(t, gcp, "gcp")
	environ := []string{"HOME=" + home, "GOOGLE_APPLICATION_CREDENTIALS=" + gcp}
	for chosen, want := range map[string][]string{
		"CLAUDE_CODE_USE_BEDROCK=1": {aws}, "CLAUDE_CODE_USE_VERTEX=1": {gcp}, "CLAUDE_CODE_USE_VERTEX=0": nil,
	} {
		got = must.Get(claude.PrepareConfigDir(dir, append([]string{chosen}, environ...), true, false))(t)
		must.Equal(t, want, got.Readable, chosen)
	}
}
