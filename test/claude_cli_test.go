package test

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ringback/test/messagesapi"
	"ringback/test/must"
	"ringback/test/sample"
)

// realClaude starts a server that runs the real CLI on a scripted model.
func realClaude(t testing.TB, env vars, script messagesapi.Script) (*node, *messagesapi.Server) {
	t.Helper()
	bin := messagesapi.FindCLI(t)
	api := messagesapi.Start(t, script)
	all := vars{"CLAUDE_BIN": bin, "REDIS_URL": startRedis(t).URL, "SANDBOX": "auto"}
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
	return startNode(t, all), api
}

// curls returns the curl commands of a prompt, by endpoint, exactly as written.
func curls(prompt string) map[string]string {
	found := map[string]string{}
	for _, line := range regexp.MustCompile(`(?m)^curl .*$`).FindAllString(prompt, -1) {
		endpoint := regexp.MustCompile(`/api/claude/(\S+)`).FindStringSubmatch(line)[1]
		found[endpoint] = line
	}
	return found
}

// setting returns the latest value of a setting in the prompt's callback configuration.
func setting(prompt, name string) string {
	all := regexp.MustCompile(`(?m)^- `+name+`: (\S+)$`).FindAllStringSubmatch(prompt, -1)
	if len(all) == 0 {
		return ""
	}
	return all[len(all)-1][1]
}

// writeFile uses the CLI's Write tool. Its working directory is in the CLI's own prompt,
// not in ours, so the file name is relative to it.
func writeFile(name string, payload object) messagesapi.Reply {
	text, _ := json.MarshalIndent(payload, "", "  ")
	return messagesapi.Use("Write", map[string]any{"file_path": name, "content": string(text)})
}

// callback adds to a payload what identifies the job and the turn of a prompt.
func callback(prompt string, payload object) object {
	return with(object{"requestId": setting(prompt, "REQUEST_ID"), "hmac": setting(prompt, "HMAC_SIGNATURE")}, payload)
}

// posts returns the replies with which Claude calls back as the prompt says: it writes the file and sends it.
func posts(prompt, file string, payload object) []messagesapi.Reply {
	commands := regexp.MustCompile(`(?m)^curl .*@`+regexp.QuoteMeta(file)+`.*$`).FindAllString(prompt, -1)
	return []messagesapi.Reply{writeFile(file, callback(prompt, payload)), messagesapi.Bash(commands[len(commands)-1])}
}

// inOrder returns the reply after that many tool calls; there are no more after the last.
func inOrder(done int, replies ...messagesapi.Reply) messagesapi.Reply {
	if done < len(replies) {
		return replies[done]
	}
	return messagesapi.Say("Done.")
}

func TestRealCLIReportsRepairsAndSubmits(t *testing.T) {
	t.Parallel()
	wrong := mealResult("Soup")
	wrong["suggestions"].([]any)[0].(object)["mealType"] = "brunch"
	script := func(r messagesapi.Request) messagesapi.Reply {
		prompt := r.Text()
		return inOrder(len(r.Results()), slices.Concat(
			posts(prompt, "progress.json", object{"message": "Reading the history", "progress": 20, "type": "thinking"}),
			posts(prompt, "result.json", wrong), posts(prompt, "result.json", mealResult("Soup")),
		)...)
	}
	n, api := realClaude(t, nil, script)
	events := n.listen(t, "userId=u1")
	id := n.create(t, object{"userId": "u1"})
	record := n.await(t, id, "received")

	results := api.Requests()[len(api.Requests())-1].Results()
	for i, r := range results {
		if r.IsError {
			t.Errorf("tool call %d was refused: %s", i+1, r.Content)
		}
	}
	if len(results) > 3 && !strings.Contains(results[3].Content, `found the string \"brunch\"; allowed: \"breakfast\"`) {
		t.Errorf("Claude was not told what is wrong: %s", results[3].Content)
	}
	want := []string{"recipes:suggestions:pending", "recipes:suggestions:running", "recipes:suggestions:activity", "recipes:suggestions:received"}
	must.Equal(t, want, names(events.until("recipes:suggestions:received")))
	must.Equal(t, "Because.", record["result"].(object)["reasoning"], "reasoning is")
	eventually(t, "the usage to be booked", func() bool {
		usage := n.want(t, 200, "GET", "/api/jobs/"+id, nil)["usage"].(object)
		return usage["inputTokens"].(float64) > 0 && usage["outputTokens"].(float64) > 0
	})
}

func mustJSON(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}

func TestRealCLIMayRunNoOtherCommand(t *testing.T) {
	t.Parallel()
	var refused []bool
	n, api := realClaude(t, nil, func(r messagesapi.Request) messagesapi.Reply {
		prompt := r.Text()
		curl := curls(prompt)["suggestions"]
		return inOrder(len(r.Results()), slices.Concat([]messagesapi.Reply{
			messagesapi.Bash("bash -c id"),
			messagesapi.Bash("curl -sS -X POST http://127.0.0.1:9/elsewhere"),
			messagesapi.Bash(curl + " http://127.0.0.1:9/elsewhere"),
			messagesapi.Bash(strings.Replace(curl, "@result.json", "@/etc/hostname", 1)),
			messagesapi.Use("Write", map[string]any{"file_path": "/tmp/ringback-was-here", "content": "x"}),
			messagesapi.Use("Read", map[string]any{"file_path": "/etc/hostname"}),
		}, posts(prompt, "result.json", mealResult("Soup")))...)
	})
	id := n.create(t, object{})
	n.await(t, id, "received")
	for _, r := range api.Requests()[len(api.Requests())-1].Results() {
		refused = append(refused, r.IsError)
	}
	must.Equal(t, []bool{true, true, true, true, true, true, false, false}, refused[:8], "which calls were refused")
}

func TestRealCLIIsRungAgainInTheSameConversation(t *testing.T) {
	t.Parallel()
	sample.OneIn(t, 3)
	n, api := realClaude(t, nil, func(r messagesapi.Request) messagesapi.Reply {
		prompt := r.Text()
		if !strings.Contains(prompt, "Your last turn ended, but no result of yours was accepted") {
			return messagesapi.Say("I have thought about it.") // and never submits, whatever it is told
		}
		return submit(r)
	})
	record := n.await(t, n.create(t, object{}), "received")
	must.Equal(t, 2.0, record["turn"], "it took … turns")
	last := api.Requests()[len(api.Requests())-1]
	must.Contain(t, last.Text(), "You plan meals for a household", "the second turn does not know the first")
}

func TestRealCLIStructuredOutput(t *testing.T) {
	t.Parallel()
	n, _ := realClaude(t, vars{"USE_CALLBACK_CLAUDE": "false"}, func(r messagesapi.Request) messagesapi.Reply {
		must.NotContain(t, r.Text(), "curl", "the prompt speaks of curl")
		if len(r.Results()) == 0 {
			return messagesapi.Use("StructuredOutput", mealResult("Soup"))
		}
		return messagesapi.Say("Done.")
	})
	events := n.listen(t, "userId=u1")
	id := n.create(t, object{"userId": "u1"})
	events.until("recipes:suggestions:received")
	record := n.await(t, id, "received")
	must.Equal(t, 1, len(record["result"].(object)["suggestions"].([]any)), "suggestions")
}
