package jobs

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"ringback/test/harness"
	"ringback/test/messagesapi"
	"ringback/test/must"
	"ringback/test/rig"
	"ringback/test/sample"
)

// wantNoSignature fails the test if the model saw something like a signature.
func wantNoSignature(t *testing.T, api *messagesapi.Server) {
	t.Helper()
	signature, digest := regexp.MustCompile(`[0-9a-f]{64}`), regexp.MustCompile(`"input_digest": "[0-9a-f]{64}"`)
	for _, r := range api.Requests() {
		texts := []string{r.System, r.Text()}
		for _, part := range r.Results() {
			texts = append(texts, part.Content)
		}
		told := strings.Join(texts, "\n")
		if found := signature.FindString(digest.ReplaceAllString(told, "")); found != "" || strings.Contains(told, "curl ") {
			t.Errorf("request %d tells the model of a signature (%q) or of curl", r.Turn, found)
		}
	}
}

// wantNoCallbacksInChat fails the test if people are shown how Claude calls back.
func wantNoCallbacksInChat(t *testing.T, n *rig.Node) {
	t.Helper()
	for _, m := range n.Messages(t, "s1", "?userId=u1") {
		must.NotContain(t, rig.JSON(m), "mcp__ringback__", "the chat shows a callback")
	}
}

func TestRealCLIOverMCPReportsRepairsAndSubmits(t *testing.T) {
	t.Parallel()
	wrong := rig.MealResult("Soup")
	wrong["suggestions"].([]any)[0].(object)["mealType"] = "brunch"
	n, api := rig.RealClaude(t, vars{"PROMPTS_DIR": rig.OverMCP(t, "meal-suggestions"), "SANDBOX": "auto"}, messagesapi.Steps(
		rig.UseTool("report_progress", object{"message": "Reading the history", "progress": 20, "type": "thinking"}),
		rig.UseTool("submit_result", wrong),
		rig.UseTool("submit_result", rig.MealResult("Soup")),
		messagesapi.Say("Submitted."),
	))
	events := n.Listen(t, "userId=u1")
	id := n.Create(t, object{"userId": "u1", "sessionId": "s1"})
	n.Await(t, id, "received")
	want := []string{"recipes:suggestions:pending", "recipes:suggestions:running", "recipes:suggestions:activity", "recipes:suggestions:received"}
	must.Equal(t, want, rig.EventNames(events.Until("recipes:suggestions:received")))
	must.Eventually(t, "the CLI to be told that its result was accepted", func() bool { return len(api.Requests()) == 4 })
	last := api.Requests()[3]
	var told []string
	for _, r := range last.Results() {
		told = append(told, r.Content)
	}
	if !strings.Contains(told[1], `found the string \"brunch\"; allowed: \"breakfast\"`) || !last.Results()[1].IsError {
		t.Errorf("Claude was not told what is wrong: %s", told[1])
	}
	if told[0] != `{"success":true}` || told[2] != `{"success":true,"received":1}` {
		t.Errorf("Claude was answered %q", told)
	}
	if slices.Contains(last.Tools, "Bash") || slices.Contains(last.Tools, "Write") || slices.Contains(last.Deferred, "mcp__ringback__submit_result") {
		t.Errorf("Claude was offered %v (deferred: %v)", last.Tools, last.Deferred)
	}
	if schema := string(last.Schemas["mcp__ringback__submit_result"]); !strings.Contains(schema, `"mealType"`) || !strings.Contains(schema, `"breakfast"`) {
		t.Errorf("the tool's schema is not the result's: %s", schema)
	}
	wantNoSignature(t, api)
	wantNoCallbacksInChat(t, n)
}

// A question that is not answered while the call waits ends the turn; the reply starts
// another one, in the same conversation.
func TestRealCLIOverMCPAsksAndGoesOn(t *testing.T) {
	t.Parallel()
	sample.OneIn(t, 3)
	asked := rig.UseTool("ask_user", object{"type": "information_request", "message": "For how many?", "props": object{
		"schema": object{"type": "object", "required": []any{"people"}, "properties": object{"people": object{"type": "integer"}}},
	}})
	n, api := rig.RealClaude(t, vars{"PROMPTS_DIR": rig.OverMCP(t, "meal-suggestions"), "SANDBOX": "auto", "HOLD": "0s"}, func(r messagesapi.Request) messagesapi.Reply {
		answered := strings.Contains(r.Text(), "The user has answered your question")
		switch results := len(r.Results()); {
		case results == 0:
			return asked
		case results == 1 && answered:
			return rig.UseTool("submit_result", rig.MealResult("Soup for four"))
		}
		return messagesapi.Say("I stop here.")
	})
	id := n.Create(t, object{"userId": "u1", "sessionId": "s1"})
	question := n.OpenCheckpoint(t, id, "awaiting_input")
	must.Eventually(t, "Claude to be told that nobody has answered", func() bool { return len(api.Requests()) == 2 })
	n.Reply(t, question["id"].(string), object{"values": object{"people": 4}})
	record := n.Await(t, id, "received")
	must.Equal(t, 2.0, record["turn"], "it took … turns")
	must.Eventually(t, "the last request", func() bool { return len(api.Requests()) == 4 })
	all := api.Requests()
	must.Contain(t, all[1].LastResult().Content, `"status":"parked"`, "Claude was told")
	must.Contain(t, all[2].Text(), `"people": 4`, "Claude was not told the reply")
	wantNoSignature(t, api)
	wantNoCallbacksInChat(t, n)
}

// Over MCP, too, an action runs once, after a person has approved exactly its input.
func TestRealCLIOverMCPActs(t *testing.T) {
	t.Parallel()
	sample.OneIn(t, 3)
	prompts, runs := rig.GatedKind(t, "callback: mcp")
	deploy := func(confirmed bool, name string) messagesapi.Reply {
		return rig.UseTool("deploy", rig.With(object{"input": object{"name": name}}, map[bool]object{true: {"confirmed": true}}[confirmed]))
	}
	n, api := rig.RealClaude(t, vars{"PROMPTS_DIR": prompts, "HOLD": "0s"}, func(r messagesapi.Request) messagesapi.Reply {
		steps := []messagesapi.Reply{deploy(true, "shop"), messagesapi.Say("I stop here.")} // not confirmed
		if strings.Contains(r.Text(), "The user has answered your question") {
			steps = []messagesapi.Reply{{}, deploy(true, "another"), messagesapi.Say("I stop here.")}
		}
		if strings.Count(r.Text(), "The user has answered your question") == 2 {
			steps = []messagesapi.Reply{{}, {}, deploy(true, "shop"), rig.UseTool("submit_result", object{"done": true}), messagesapi.Say("Done.")}
		}
		return steps[min(len(r.Results()), len(steps)-1)]
	})
	id := n.Create(t, object{"kind": "gated", "input": object{}, "userId": "u1", "sessionId": "s1"})
	for range 2 {
		c := n.OpenCheckpoint(t, id, "awaiting_approval")
		if rig.Ran(t, runs) != 0 {
			t.Fatal("the action ran before anybody had allowed it")
		}
		n.Reply(t, c["id"].(string), object{"decision": "approve"})
		must.Eventually(t, "the job to go on", func() bool {
			now, _ := n.Want(t, 200, "GET", "/api/jobs/"+id, nil)["checkpoint"].(object)
			return now == nil || now["id"] != c["id"]
		})
	}
	n.Await(t, id, "received")
	must.Equal(t, 1, rig.Ran(t, runs), "the action ran … times, want once: Claude came for shop once")
	for _, r := range api.Requests() {
		if slices.Contains(r.Tools, "Bash") || !slices.Contains(r.Tools, "mcp__ringback__deploy") {
			t.Errorf("Claude was offered %v", r.Tools)
		}
	}
	wantNoSignature(t, api)
}

// Claude's calls over MCP are not tied to a connection: a restarted server accepts the next
// call.
func TestRealCLIOverMCPOutlivesTheServer(t *testing.T) {
	t.Parallel()
	submitting, restarted := make(chan struct{}), make(chan struct{})
	submits := sync.OnceFunc(func() { close(submitting) }) // in a sandbox, the CLI retries until the server is back
	n, _ := rig.RealClaude(t, vars{"LISTEN_ADDR": "127.0.0.1:" + harness.FreePort(t), "PROMPTS_DIR": rig.OverMCP(t, "meal-suggestions"), "SANDBOX": "auto", "DATA_DIR": t.TempDir(), "CLAUDE_CODE_MAX_RETRIES": "7"}, func(r messagesapi.Request) messagesapi.Reply {
		switch results := r.Results(); {
		case len(results) == 0:
			return rig.UseTool("report_progress", object{"message": "Reading the history"})
		case len(results) == 1:
			submits()
			select {
			case <-restarted:
			case <-t.Context().Done():
			}
			return rig.UseTool("submit_result", rig.MealResult("Soup"))
		}
		return messagesapi.Say("Submitted.")
	})
	id := n.Create(t, object{"userId": "u1"})
	<-submitting
	again := n.Again(t)
	close(restarted)
	must.Equal(t, 1.0, again.Await(t, id, "received")["turn"], "it took … turns, want the one that was running")
}

// The simulated Claude supports both ways.
func TestSimulatedClaudeOverMCP(t *testing.T) {
	t.Parallel()
	n := rig.Start(t, vars{"HOLD": "0s", "PROMPTS_DIR": rig.OverMCP(t, "meal-suggestions", "media", "ship", "code-change")})
	meals := n.Create(t, object{"userId": "u1", "options": object{"simulate": "repair"}})
	n.Await(t, meals, "received")
	must.Eventually(t, "the transcript of two submissions over MCP", func() bool {
		transcript := n.Text(t, "/api/jobs/"+meals+"/transcript")
		return strings.Count(transcript, `"mcp__ringback__submit_result"`) == 2 && !strings.Contains(transcript, "curl")
	})
	failing := n.Create(t, object{"userId": "u1", "options": object{"simulate": "failure"}})
	must.Equal(t, "The simulated Claude was asked to fail.", n.Await(t, failing, "failed")["error"], "it failed with")
	ship := n.Create(t, object{"kind": "ship", "userId": "u1", "sessionId": "s1", "input": object{"prompt": "Ship it", "projectName": "shop"}})
	c := n.OpenCheckpoint(t, ship, "awaiting_approval")
	n.Reply(t, c["id"].(string), object{"decision": "approve"})
	if result := n.Await(t, ship, "received")["result"].(object); result["deployed"] != true {
		t.Errorf("the result is %v", result)
	}
	media := n.Create(t, object{"kind": "media", "userId": "u1", "sessionId": "media", "input": object{"prompt": "a lake", "media_type": "image", "aspect_ratio": "5:3"}})
	c = n.OpenCheckpoint(t, media, "awaiting_input")
	n.Reply(t, c["id"].(string), object{"text": "16:9"})
	if result := n.Await(t, media, "received")["result"].(object); result["aspect_ratio"] != "16:9" {
		t.Errorf("the result is %v", result)
	}
	change := n.Create(t, object{"kind": "code-change", "userId": "u1", "input": object{"prompt": "Say hello", "repos": []any{object{"url": rig.GoRepository(t, "service")}}}})
	n.OpenCheckpoint(t, change, "awaiting_approval")
}

// The signature is in a file that the CLI reads at its start: it is in no command line and
// no environment, and Claude cannot read the file.
func TestRealCLIOverMCPKeepsTheSignature(t *testing.T) {
	t.Parallel()
	for _, sandbox := range sample.Of(t, 1, []string{"off", "require"}) {
		t.Run("SANDBOX="+sandbox, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			config := func() string {
				files, _ := filepath.Glob(filepath.Join(dir, "nodes", "*", "jobs", "*", "*mcp.json"))
				switch {
				case sandbox == "require" && len(files) == 0: // it is on no disk
					return "/run/ringback-mcp.json"
				case sandbox == "off" && len(files) == 1:
					return files[0]
				}
				t.Errorf("the configurations are %q", files)
				return ""
			}
			n, api := rig.RealClaude(t, vars{"DATA_DIR": dir, "PROMPTS_DIR": rig.OverMCP(t, "meal-suggestions"), "SANDBOX": sandbox}, func(r messagesapi.Request) messagesapi.Reply {
				switch len(r.Results()) {
				case 0:
					if file := config(); sandbox == "off" {
						wantSecret(t, file)
					}
					return messagesapi.Use("Read", map[string]any{"file_path": config()})
				case 1:
					return messagesapi.Use("Read", map[string]any{"file_path": "../mcp.json"})
				case 2:
					return rig.UseTool("submit_result", rig.MealResult("Soup"))
				}
				return messagesapi.Say("Submitted.")
			})
			n.Await(t, n.Create(t, object{"userId": "u1"}), "received")
			must.Eventually(t, "the last request", func() bool { return len(api.Requests()) == 4 })
			for i, r := range api.Requests()[3].Results()[:2] {
				if !r.IsError {
					t.Errorf("reading it in the %d. way was answered %s", i+1, r.Content)
				}
			}
			wantNoSignature(t, api)
		})
	}
}

// wantSecret fails the test if other users can read an MCP configuration, or if its content
// is in a process's command line or environment.
func wantSecret(t *testing.T, config string) {
	t.Helper()
	info, err := os.Stat(config)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the configuration is %v (%v)", info, err)
		return
	}
	text, err := os.ReadFile(config)
	if err != nil {
		t.Error(err)
		return
	}
	signature := regexp.MustCompile(`[0-9a-f]{64}`).Find(text)
	if signature == nil {
		t.Errorf("it holds no signature")
	}
	started, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	environs, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, file := range append(started, environs...) {
		if seen, err := os.ReadFile(file); err == nil && bytes.Contains(seen, signature) {
			t.Errorf("%s holds the signature: %q", file, seen)
		}
	}
}

// If a kind uses MCP servers that the CLI's user has configured, one with the same name as
// ours is not mistaken for it.
func TestRealCLIOverMCPBesideOtherServers(t *testing.T) {
	t.Parallel()
	sample.OneIn(t, 3)
	server := mcp.NewServer(&mcp.Implementation{Name: "decoy", Version: "1"}, nil)
	server.AddTool(&mcp.Tool{Name: "submit_result", InputSchema: object{"type": "object"}}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: `{"success":true}`}}}, nil
	})
	others := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{Stateless: true})
	var recipes, decoyed atomic.Int32
	mux := http.NewServeMux()
	mux.HandleFunc("/recipes", func(w http.ResponseWriter, r *http.Request) { recipes.Add(1); others.ServeHTTP(w, r) })
	mux.HandleFunc("/decoy", func(w http.ResponseWriter, r *http.Request) { decoyed.Add(1); others.ServeHTTP(w, r) })
	decoy := httptest.NewServer(mux)
	t.Cleanup(decoy.Close)
	config := t.TempDir()
	rig.WriteFiles(t, config, map[string]string{".claude.json": rig.JSON(object{"hasCompletedOnboarding": true, "mcpServers": object{
		"ringback": object{"type": "http", "url": decoy.URL + "/decoy"}, "recipes": object{"type": "http", "url": decoy.URL + "/recipes"},
	}})})
	n, api := rig.RealClaude(t, vars{"CLAUDE_CONFIG_DIR": config, "PROMPTS_DIR": rig.KindsDir(t, "own.md", "---\ncallback: mcp\nallowed_tools: [mcp__recipes__find]\n---\nDo it.")}, messagesapi.Steps(
		rig.UseTool("submit_result", object{"done": true}), messagesapi.Say("Submitted."),
	))
	n.Await(t, n.Create(t, object{"kind": "own", "input": object{}, "userId": "u1"}), "received")
	first := api.Requests()[0]
	must.Eventually(t, "the CLI to call the user's own server", func() bool { return recipes.Load() > 0 })
	if !slices.Contains(first.Tools, "mcp__ringback__ask_user") || slices.Contains(first.Deferred, "mcp__ringback__submit_result") || decoyed.Load() != 0 {
		t.Errorf("Claude was offered %v (deferred: %v), and the other server called %d times", first.Tools, first.Deferred, decoyed.Load())
	}
}
