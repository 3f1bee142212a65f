package claude_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ringback/internal/turn/claude"
	"ringback/test/must"
)

const conversation = "0b8e7c1a-31a5-4a4e-9c39-3a3f0b0f5d11"

// A copy of a conversation replaces an older one at the path that the CLI finds.
func TestSessionMoves(t *testing.T) {
	t.Parallel()
	from, to := t.TempDir(), t.TempDir()
	if _, err := claude.ReadSession(from, conversation); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what is not there is read: %v", err)
	}
	for _, text := range []string{"one\n", "one\ntwo\n"} {
		must.OK(t, claude.WriteSession(from, conversation, []byte(text)))
		got, err := claude.ReadSession(from, conversation)
		if err != nil || string(got) != text || !must.Get(claude.HasSession(from, conversation))(t) {
			t.Errorf("read %q: %v", got, err)
		}
		must.OK(t, claude.WriteSession(filepath.Join(to, "deeper"), conversation, got))
	}
	old := filepath.Join(to, "-work", conversation+".jsonl")
	writeFile(t, old, "old")
	must.OK(t, claude.WriteSession(to, conversation, []byte("new")))
	if text, err := os.ReadFile(old); err != nil || string(text) != "new" {
		t.Errorf("an older one goes on: %q %v", text, err)
	}
}

// A link that a job has put in the place of its conversation reveals nothing of the
// machine.
func TestSessionFollowsNoLink(t *testing.T) {
	t.Parallel()
	secret := filepath.Join(t.TempDir(), "secret")
	must.OK(t, os.WriteFile(secret, []byte("secret"), 0o600))
	for name, plant := range map[string]func(projects, file string) error{
		"a link to a file": func(_, file string) error { return os.Symlink(secret, file) },
		"a link to a directory": func(projects, _ string) error {
			outside := filepath.Join(filepath.Dir(secret), conversation+".jsonl")
			return errors.Join(os.WriteFile(outside, []byte("secret"), 0o600), os.Symlink(filepath.Dir(secret), filepath.Join(projects, "away")))
		},
		"a directory": func(_, file string) error { return os.Mkdir(file, 0o700) },
	} {
		projects := t.TempDir()
		must.OK(t, os.MkdirAll(filepath.Join(projects, "x"), 0o700))
		must.OK(t, plant(projects, filepath.Join(projects, "x", conversation+".jsonl")))
		if text, err := claude.ReadSession(projects, conversation); err == nil {
			t.Errorf("%s: read %q", name, text)
		}
	}
}

func TestMaskSession(t *testing.T) {
	t.Parallel()
	first, second := strings.Repeat("a1", 32), strings.Repeat("b2", 32)
	said := func(text string) string {
		return `{"type":"assistant","message":{"content":[{"type":"text","text":"` + text + `"}]}}` + "\n"
	}
	thought := func(text string) string {
		return `{"message":{"content":[{"type": "thinking","thinking":"` + text + `"}]}}` + "\n"
	}
	prompt := func(signature string) string {
		return `{"type":"user","message":"- HMAC_SIGNATURE: ` + signature + `\n"}` + "\n"
	}
	mask := func(text []byte) []byte {
		for _, secret := range []string{first, second, "sk-secret"} {
			text = bytes.ReplaceAll(text, []byte(secret), bytes.Repeat([]byte("*"), len(secret)))
		}
		return text
	}
	for name, c := range map[string]struct {
		text string
		want string // signed with ccc…; empty: it cannot be resumed
	}{
		"nothing to hide": {said("hello"), said("hello")},
		"a secret":        {said("it is sk-secret"), said("it is *********")},
		"the signature of the turn before": {
			prompt(first) + said(first) + prompt(second) + said(second),
			prompt(strings.Repeat("*", 64)) + said(strings.Repeat("*", 64)) + prompt(strings.Repeat("c", 64)) + said(strings.Repeat("c", 64)),
		},
		"harmless thoughts":           {thought("hm") + said("sk-secret"), thought("hm") + said("*********")},
		"thoughts after another line": {said("x") + thought("hm"), said("x") + thought("hm")},
		"a secret in thoughts":        {said("x") + thought("sk-secret"), ""},
		"the signature in thoughts":   {prompt(second) + thought(second), ""},
		"thoughts without a line end": {strings.TrimSpace(thought("sk-secret")), ""},
	} {
		masked, ok := claude.MaskSession([]byte(c.text), mask)
		must.Equal(t, c.want != "", ok, name, "ok is")
		for _, secret := range []string{first, second, "sk-secret"} {
			if bytes.Contains(masked, []byte(secret)) {
				t.Errorf("%s: the copy holds %s", name, secret)
			}
		}
		if got := string(claude.SignSession(masked, strings.Repeat("c", 64))); ok && got != c.want {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// A conversation that cannot be looked for is not absent: it was paid for.
func TestAConversationThatCannotBeLookedFor(t *testing.T) {
	t.Parallel()
	projects := t.TempDir()
	writeFile(t, filepath.Join(projects, "-work", conversation+".jsonl"), "text")
	writeFile(t, filepath.Join(projects, "no directory"), "")
	for name, c := range map[string]struct {
		conversation string
		has, fails   bool
	}{
		"it is there":                     {conversation, true, false},
		"it is not there":                 {"another", false, false},
		"the file system refuses to look": {strings.Repeat("x", 300), false, true},
	} {
		has, err := claude.HasSession(projects, c.conversation)
		must.Equal(t, c.has, has, name)
		must.Equal(t, c.fails, err != nil, name, err)
	}
	has, err := claude.HasSession(filepath.Join(projects, "none"), conversation)
	must.OK(t, err)
	must.Equal(t, false, has, "in a directory that is not there")
}
