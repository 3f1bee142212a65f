package attack

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"ringback/test/harness"
	"ringback/test/must"
	"ringback/test/spelling"
)

// spelled is what Claude tries in one job: commands, of which it runs those that are
// allowed, or all. Keep are the names of their targets in the directory keep, which must not be
// removed.
type spelled struct {
	Commands []string `json:"commands"`
	Keep     []string `json:"keep"`
	All      bool     `json:"all"`
	tools    string
}

// spellings returns what the jobs of this test try, by kind.
func spellings() map[string]*spelled {
	const deny = "{allow: [Bash], ask: ['Bash(touch *)'], deny: ['Bash(rm *)', 'Read(**/.env)']}"
	plans := map[string]*spelled{
		"by-rules":   {tools: deny},
		"by-walls":   {tools: deny, All: true},
		"by-allow":   {tools: "{allow: ['Bash(ls *)', 'Bash(cat *)', 'Bash(git *)', 'Bash(find *)']}"},
		"by-name":    {tools: "{allow: ['Bash(env touch made/*)'], ask: ['Bash(touch *)'], deny: ['Read(**/.env)']}"},
		"by-nothing": {tools: "{allow: [Bash]}", All: true},
	}
	try := func(name, command string) { plans[name].Commands = append(plans[name].Commands, command) }
	for seed := range uint64(110) {
		g, target := spelling.New(seed), strconv.FormatUint(seed, 10)
		rm, read, touch := g.Call("rm", "keep/"+target), g.Read(), g.Call("touch", "asked/"+target)
		for _, name := range []string{"by-rules", "by-walls"} {
			plans[name].Keep = append(plans[name].Keep, target)
			try(name, rm)
			try(name, read)
		}
		try("by-rules", touch)
		try("by-allow", g.Smuggle("touch made/"+target))
		if seed < 5 {
			try("by-name", "env touch made/"+target)
			try("by-name", "env touch asked/"+target)
			try("by-name", "env touch made/x; touch asked/"+target)
			try("by-name", "ls | env touch made/y")
		}
		if seed < 25 {
			plans["by-nothing"].Keep = append(plans["by-nothing"].Keep, target)
			for _, command := range []string{rm, read, touch, g.Smuggle("touch made/" + target)} {
				try("by-nothing", command)
			}
		}
	}
	for _, plan := range plans {
		plan.Commands = append(plan.Commands, "ls -a", "ls plain")
	}
	return plans
}

// What rules deny, ask for or do not allow does not happen in the sandbox, however it is
// spelled; and denied files and programs stay inaccessible even if every rule that checks
// the words fails. If no rule covers it, it does happen.
func TestNoSpellingDoesWhatRulesForbid(t *testing.T) {
	t.Parallel()
	harness.EachUser(t, spellForbidden)
}

func spellForbidden(t *testing.T, u harness.User) {
	plans := spellings()
	dir := u.Dir(t)
	program, err := os.ReadFile("testdata/spell.py")
	must.OK(t, err)
	text, err := json.Marshal(plans)
	must.OK(t, err)
	files := map[string]string{"cli/claude": "#!/usr/bin/env python3\n" + string(program), "cli/plan.json": string(text)}
	for name, plan := range plans {
		files["prompts/"+name+".md"] = "---\ntools: " + plan.tools + "\n---\nTry " + name + "."
	}
	for name, text := range files {
		path := filepath.Join(dir, name)
		must.OK(t, os.MkdirAll(filepath.Dir(path), 0o755))
		harness.WriteProgram(t, path, []byte(text))
	}
	u.Own(t, dir)
	s := harness.Start(t, harness.Vars{
		"PROMPTS_DIR": filepath.Join(dir, "prompts"), "DATA_DIR": filepath.Join(dir, "data"), "HOME": dir, "CLAUDE_BIN": filepath.Join(dir, "cli", "claude"), "HOLD": "0s", "SANDBOX": "require", "WORKERS": "4", "USER_LIMIT": "4",
	}, func(cmd *exec.Cmd) { cmd.Dir = dir; u.Run(cmd) })
	ids := map[string]string{}
	for name := range plans {
		answer := s.Want(t, 202, harness.Request{Method: "POST", Path: "/api/jobs", Body: harness.Object{"kind": name, "input": harness.Object{}, "userId": "u1"}})
		ids[name] = answer["requestId"].(string)
	}
	for name, plan := range plans {
		dir := ""
		harness.Eventually(t, name+" to be tried", func() bool {
			refuse(t, s, ids[name])
			done, err := filepath.Glob(filepath.Join(s.Dir, "nodes", "*", "jobs", ids[name], "work", "done"))
			if err == nil && len(done) == 1 {
				dir = filepath.Dir(done[0])
			}
			return dir != ""
		})
		o := outcomeIn(t, dir, plan)
		t.Logf("%s: of %d commands %d ran; %d were removed, %d touched, %d made, %d told a secret", name, len(plan.Commands), o.ran, o.removed, o.touched, o.made, len(o.told))
		switch {
		case name == "by-name":
			if o.made != 5 || o.touched != 0 {
				t.Errorf("%s: the rule names 5 commands that make a file; %d were made, %d touched", name, o.made, o.touched)
			}
		case name == "by-nothing":
			if o.removed < 10 || o.touched < 10 || o.made < 5 || len(o.told) < 10 {
				t.Errorf("%s: too few of the spellings do what they say", name)
			}
		case o.removed+len(o.told) > 0 || name != "by-walls" && o.touched+o.made > 0 || o.ran < 2:
			t.Errorf("%s: what rules forbid has happened, or nothing was tried: %q", name, o.told)
		}
	}
}

// refuse answers no if a job has waited for a decision until its turn was ended.
func refuse(t *testing.T, s *harness.Server, id string) {
	t.Helper()
	record := s.Want(t, 200, harness.Request{Method: "GET", Path: "/api/jobs/" + id})
	question, _ := record["checkpoint"].(harness.Object)
	asked, _ := question["createdAt"].(string)
	if at, err := time.Parse(time.RFC3339, asked); err == nil && record["status"] == "awaiting_approval" && time.Since(at) > 10*time.Second {
		s.Want(t, 200, harness.Request{Method: "POST", Path: fmt.Sprint("/api/checkpoints/", question["id"], "/reply"), Body: harness.Object{"decision": "deny"}})
	}
}

// outcome is what happened in a job's directory.
type outcome struct {
	ran, removed, touched, made int
	// told are the commands that printed a secret.
	told []string
}

func outcomeIn(t *testing.T, dir string, plan *spelled) (o outcome) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "ran.json"))
	var ran [][2]string
	if err == nil {
		err = json.Unmarshal(text, &ran)
	}
	must.OK(t, err)
	var secrets []string
	for _, name := range []string{".env", "sub/.env", "moved/.env"} {
		if text, err := os.ReadFile(filepath.Join(dir, name)); err == nil {
			secrets = append(secrets, strings.TrimSpace(string(text)))
		}
	}
	if len(secrets) < 2 {
		t.Fatalf("the files that may not be read hold %q", secrets)
	}
	for _, command := range ran {
		o.ran++
		if strings.Contains(command[1], secrets[0]) || strings.Contains(command[1], secrets[1]) {
			o.told = append(o.told, command[0])
		}
	}
	err = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() || filepath.Base(path) == ".env" || filepath.Base(path) == "hard" || filepath.Base(path) == "ran.json" {
			return err
		}
		text, err := os.ReadFile(path)
		if strings.Contains(string(text), secrets[0]) || strings.Contains(string(text), secrets[1]) {
			o.told = append(o.told, "a copy at "+path)
		}
		return err
	})
	must.OK(t, err)
	for _, name := range plan.Keep {
		if _, err := os.Stat(filepath.Join(dir, "keep", name)); err != nil {
			o.removed++
		}
	}
	o.touched, o.made = entries(t, filepath.Join(dir, "asked")), entries(t, filepath.Join(dir, "made"))
	return o
}

func entries(t *testing.T, dir string) int {
	t.Helper()
	found, err := os.ReadDir(dir)
	must.OK(t, err)
	return len(found)
}
