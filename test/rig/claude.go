package rig

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ringback/test/harness"
	"ringback/test/messagesapi"
	"ringback/test/must"
	"ringback/test/scan"
)

// RealClaude starts a server that runs the real CLI on a scripted model.
func RealClaude(t testing.TB, env harness.Vars, script messagesapi.Script) (*Node, *messagesapi.Server) {
	t.Helper()
	bin := messagesapi.FindCLI(t)
	api := messagesapi.Start(t, script)
	all := harness.Vars{"CLAUDE_BIN": bin, "REDIS_URL": StartRedis(t).URL, "SANDBOX": "auto"}
	if env["PROMPTS_DIR"] != "" { // commands of a test's own kind write files outside of the job
		all["SANDBOX"] = "off"
	}
	for _, entry := range api.Env(t) {
		name, value, _ := strings.Cut(entry, "=")
		all[name] = value
	}
	maps.Copy(all, env)
	t.Cleanup(func() {
		if !t.Failed() {
			return
		}
		for _, r := range api.Requests() {
			t.Logf("request %d: %+v", r.Turn, r.Results())
		}
	})
	return Start(t, all), api
}

// Curls returns the curl commands of a prompt, by endpoint, exactly as written.
func Curls(prompt string) map[string]string {
	found := map[string]string{}
	for _, line := range regexp.MustCompile(`(?m)^curl .*$`).FindAllString(prompt, -1) {
		endpoint := regexp.MustCompile(`/api/claude/(\S+)`).FindStringSubmatch(line)[1]
		found[endpoint] = line
	}
	return found
}

// Setting returns the latest value of a setting in the prompt's callback configuration.
func Setting(prompt, name string) string {
	all := regexp.MustCompile(`(?m)^- `+name+`: (\S+)$`).FindAllStringSubmatch(prompt, -1)
	if len(all) == 0 {
		return ""
	}
	return all[len(all)-1][1]
}

// WriteFile uses the CLI's Write tool. Its working directory is in the CLI's own prompt,
// not in ours, so the file name is relative to it.
func WriteFile(name string, payload harness.Object) messagesapi.Reply {
	text, _ := json.MarshalIndent(payload, "", "  ")
	return messagesapi.Use("Write", map[string]any{"file_path": name, "content": string(text)})
}

// Callback adds to a payload what identifies the job and the turn of a prompt.
func Callback(prompt string, payload harness.Object) harness.Object {
	return With(harness.Object{"requestId": Setting(prompt, "REQUEST_ID"), "hmac": Setting(prompt, "HMAC_SIGNATURE")}, payload)
}

// Posts returns the replies with which Claude calls back as the prompt says: it writes the file and sends it.
func Posts(prompt, file string, payload harness.Object) []messagesapi.Reply {
	commands := regexp.MustCompile(`(?m)^curl .*@`+regexp.QuoteMeta(file)+`.*$`).FindAllString(prompt, -1)
	return []messagesapi.Reply{WriteFile(file, Callback(prompt, payload)), messagesapi.Bash(commands[len(commands)-1])}
}

// InOrder returns the reply after that many tool calls; there are no more after the last.
func InOrder(done int, replies ...messagesapi.Reply) messagesapi.Reply {
	if done < len(replies) {
		return replies[done]
	}
	return messagesapi.Say("Done.")
}

// Submit is a script that submits a result.
func Submit(r messagesapi.Request) messagesapi.Reply {
	return InOrder(len(r.Results()), Posts(r.Text(), "result.json", MealResult("Soup"))...)
}

// OverMCP returns built-in kinds whose jobs call back over MCP.
func OverMCP(t testing.TB, kinds ...string) (prompts string) {
	t.Helper()
	dir := t.TempDir()
	for _, name := range kinds {
		text := must.Get(os.ReadFile(filepath.Join("../..", "prompts", name+".md")))(t)
		front, ok := strings.CutPrefix(string(text), "---\n")
		if !ok {
			t.Fatalf("%s has no front matter", name)
		}
		WriteFiles(t, dir, map[string]string{name + ".md": "---\ncallback: mcp\n" + front})
	}
	return dir
}

// UseTool returns a reply that calls back over MCP.
func UseTool(name string, arguments harness.Object) messagesapi.Reply {
	return messagesapi.Use("mcp__ringback__"+name, arguments)
}

// TalkKind creates a kind that may sleep.
func TalkKind(t testing.TB, more string) string {
	t.Helper()
	return KindsDir(t, "talk.md", "---\nallowed_tools: ['Bash(sleep *)']\nmax_turns: 1000\nmax_attempts: 20\n"+more+"---\nListen.")
}

// WholeText returns all text of a conversation in a request, however it got there.
func WholeText(r messagesapi.Request) string {
	var all strings.Builder
	for _, m := range r.Messages {
		for _, p := range m.Parts {
			all.WriteString(p.Text + "\n" + p.Content + "\n")
		}
	}
	return all.String()
}

// Finish submits a result in the way of the kind, once until is true; before, it runs a
// command.
func Finish(until func(messagesapi.Request) bool, mcp bool, command string) messagesapi.Script {
	return func(r messagesapi.Request) messagesapi.Reply {
		prompt, written := r.Text(), false
		for _, m := range r.Messages {
			for _, p := range m.Parts {
				written = written || p.Type == "tool_use" && (p.Name == "Write" && strings.Contains(string(p.Input), "result.json") || p.Name == "mcp__ringback__submit_result")
			}
		}
		submitted := strings.HasSuffix(r.LastResult().Content, `{"success":true}`)
		switch {
		case submitted && written:
			return messagesapi.Say("Done.")
		case !written && !until(r):
			return messagesapi.Bash(command)
		case mcp:
			return UseTool("submit_result", harness.Object{"done": true})
		case !written:
			return WriteFile("result.json", Callback(prompt, harness.Object{"done": true}))
		}
		return messagesapi.Bash(Curls(prompt)["result"])
	}
}

// PlayChanges plays a Claude that writes one file in each turn, with the CLI's own
// tools, and submits.
func PlayChanges(files ...func(prompt string) (name, text string)) messagesapi.Script {
	return func(r messagesapi.Request) messagesapi.Reply {
		prompt := r.Text()
		turn := strings.Count(prompt, "- REQUEST_ID:")
		name, text := files[min(turn, len(files))-1](prompt)
		submit := Posts(prompt, "result.json", harness.Object{"summary": fmt.Sprint("Round ", turn, " wrote ", name)})
		change := messagesapi.Use("Write", map[string]any{"file_path": name, "content": text})
		return InOrder(len(r.Results())-3*(turn-1), slices.Insert(submit, 0, change)...)
	}
}

func Writes(name, text string) func(string) (string, string) {
	return func(string) (string, string) { return name, text }
}

// CarefulKind asks before calls of Bash, except harmless ones.
func CarefulKind(t testing.TB) string {
	t.Helper()
	return KindsDir(t, "careful.md", `---
tools:
  ask: [Bash]
  allow: ['Bash(true *)']
  deny: ['Bash(rm *)']
---
Be careful.`)
}

// PlayCommands plays a Claude that runs commands one after the other, then submits its
// result; the outcomes of the commands are in its prompts.
func PlayCommands(commands ...string) messagesapi.Script {
	return func(r messagesapi.Request) messagesapi.Reply {
		done := len(r.Results())
		if done < len(commands) {
			return messagesapi.Bash(commands[done])
		}
		return InOrder(done-len(commands), Posts(r.Text(), "result.json", harness.Object{"done": true})...)
	}
}

func Touched(t testing.TB) (file string, exists func() bool) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "touched")
	return file, func() bool {
		_, err := os.Stat(file)
		return err == nil
	}
}

// CommandsLike returns the running processes whose command line contains a text.
func CommandsLike(text string) []string {
	var found []string
	for _, pid := range scan.Processes() {
		entry := fmt.Sprintf("/proc/%d/cmdline", pid)
		line, _ := os.ReadFile(entry)
		if strings.Contains(strings.ReplaceAll(string(line), "\x00", " "), text) {
			found = append(found, entry)
		}
	}
	return found
}
