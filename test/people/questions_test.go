package people

import (
	"encoding/json"
	"regexp"
	"strings"
	"sync"
	"testing"

	"ringback/internal/job"
	"ringback/test/harness"
	"ringback/test/messagesapi"
	"ringback/test/must"
	"ringback/test/rig"
	"ringback/test/sample"
)

// asksFirst plays a Claude that asks with the CLI's own tool, again if its call fails and it has not
// been told the reply otherwise, then submits its result.
func asksFirst(mcp bool, questions ...object) messagesapi.Script {
	submit := rig.Finish(func(messagesapi.Request) bool { return true }, mcp, "")
	return func(r messagesapi.Request) messagesapi.Reply {
		wasCutOff := func() bool {
			text := r.LastResult().Content
			return strings.Contains(text, "Stream closed") || strings.Contains(text, "hook error")
		}
		if len(r.Results()) == 0 || wasCutOff() && toldInWords(r) == "" {
			all := make([]any, len(questions))
			for i, q := range questions {
				all[i] = q
			}
			// An answer that Claude claims to have must not count.
			return messagesapi.Use("AskUserQuestion", object{"questions": all, "answers": object{"Which database?": "a forged answer"}})
		}
		return submit(r)
	}
}

// toldInWords returns the message that tells Claude a reply that its call has not received; "" for none.
func toldInWords(r messagesapi.Request) string {
	for _, m := range r.Messages {
		for _, p := range m.Parts {
			if strings.Contains(p.Text, "reply to your question") {
				return p.Text
			}
		}
	}
	return ""
}

func questionOf(text string, several bool, labels ...string) object {
	options := make([]any, len(labels))
	for i, label := range labels {
		options[i] = object{"label": label, "description": "what " + label + " means"}
	}
	return object{"question": text, "header": "Choice", "multiSelect": several, "options": options}
}

var whichDatabase = questionOf("Which database?", false, "Postgres", "SQLite")

// answersRead returns what Claude got as the result of its question.
func answersRead(t testing.TB, api *messagesapi.Server) string {
	t.Helper()
	requests := api.Requests()
	for _, r := range requests[len(requests)-1].Results() {
		if strings.Contains(r.Content, "answered") {
			return r.Content
		}
	}
	t.Errorf("Claude read no answer: %v", requests[len(requests)-1].Results())
	return ""
}

func TestClaudesOwnQuestionIsACheckpoint(t *testing.T) {
	t.Parallel()
	for name, c := range sample.Cases(t, 1, map[string]struct {
		hold, more, reply string
		restart           bool
	}{
		"held":             {"60s", "", "SQLite", false},
		"other words, MCP": {"60s", "callback: mcp\n", "neither, use files", false},
		"parked":           {"1s", "", "SQLite", false},
		"parked, MCP":      {"1s", "callback: mcp\n", "SQLite", false},
		"restarted":        {"1s", "", "SQLite", true},
		"killed, held":     {"60s", "callback: mcp\n", "SQLite", true},
		"tools are judged": {"1s", "callback: mcp\ntools:\n  ask: [Bash]\n", "SQLite", false},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			mcp := strings.Contains(c.more, "mcp")
			n, api := rig.RealClaude(t, vars{
				"HOLD": c.hold, "PROMPTS_DIR": rig.TalkKind(t, c.more), "SANDBOX": "auto", "DATA_DIR": t.TempDir(), "LISTEN_ADDR": "127.0.0.1:" + harness.FreePort(t),
			}, asksFirst(mcp, whichDatabase))
			id := n.Create(t, object{"kind": "talk", "input": object{}, "userId": "u1"})
			q := n.OpenCheckpoint(t, id, "awaiting_input")
			for _, want := range []string{"Which database?", "- Postgres: what Postgres means", "- SQLite: what SQLite means"} {
				if q["type"] != "information_request" || !strings.Contains(q["message"].(string), want) {
					t.Errorf("the user was asked %v", q)
				}
			}
			if c.hold == "1s" {
				must.Eventually(t, "the process to end", func() bool { return len(rig.ProcessesIn(n.Dir)) == 0 })
			}
			if c.restart {
				n = n.Again(t)
			}
			n.Reply(t, q["id"].(string), object{"text": c.reply})
			n.Await(t, id, "received")
			if list := n.Want(t, 200, "GET", "/api/jobs/"+id, nil); strings.Count(rig.JSON(list), `"information_request"`) > 1 {
				t.Errorf("the user was asked more than once: %v", list)
			}
			requests := api.Requests()
			if words := toldInWords(requests[len(requests)-1]); words != "" && c.restart { // the reply came before the call failed
				must.Contain(t, words, c.reply)
				return
			}
			read := answersRead(t, api)
			if !strings.Contains(read, `"Which database?"="`+c.reply+`"`) || strings.Contains(read, "forged") {
				t.Errorf("Claude read %s", read)
			}
			must.Eventually(t, "the chat to show the call with its answer", func() bool {
				chat := rig.JSON(n.Want(t, 200, "GET", "/api/sessions/"+q["sessionId"].(string)+"/messages", nil))
				failed := strings.Count(chat, `"output-error"`) / 2 // the call was cut off, and made again
				return strings.Count(chat, `"tool-result"`) == 1+failed && strings.Contains(chat, `"output-available"`)
			})
		})
	}
}

// Several questions are a form. Answered twice at once, while the call is held or once it is parked, one
// answer counts, and Claude reads no other.
func TestSeveralQuestionsAreAForm(t *testing.T) {
	t.Parallel()
	for name, c := range sample.Cases(t, 1, map[string]struct{ hold, more string }{
		"curl": {"60s", ""}, "MCP": {"60s", "callback: mcp\n"}, "curl, parked": {"1s", ""}, "MCP, parked": {"1s", "callback: mcp\n"},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n, api := rig.RealClaude(t, vars{"HOLD": c.hold, "PROMPTS_DIR": rig.TalkKind(t, c.more), "SANDBOX": "auto"},
				asksFirst(c.more != "", whichDatabase, questionOf("Which extras?", true, "Search", "Mail", "Chat")))
			id := n.Create(t, object{"kind": "talk", "input": object{}, "userId": "u1"})
			q := n.OpenCheckpoint(t, id, "awaiting_input")
			must.Contain(t, q["message"].(string), "2. Which extras? (several may be chosen)", "the user was asked")
			if c.hold == "1s" {
				must.Eventually(t, "the process to end", func() bool { return len(rig.ProcessesIn(n.Dir)) == 0 })
			}
			at := "/api/checkpoints/" + q["id"].(string) + "/reply"
			n.Want(t, 400, "POST", at, object{"values": object{"answer_1": "Postgres"}})
			counted := make(chan string, 2)
			var both sync.WaitGroup
			for _, database := range []string{"Postgres", "SQLite"} {
				both.Go(func() {
					status, _ := n.Do(t, "POST", at, object{"values": object{"answer_1": database, "answer_2": "Search, Mail"}})
					switch status {
					case 200:
						counted <- database
					case 409:
					default:
						t.Errorf("a reply ended with %d", status)
					}
				})
			}
			both.Wait()
			if len(counted) != 1 {
				t.Fatalf("%d of two replies count", len(counted))
			}
			n.Await(t, id, "received")
			if read := answersRead(t, api); !strings.Contains(read, `"Which database?"="`+<-counted+`"`) || !strings.Contains(read, `"Which extras?"="Search, Mail"`) {
				t.Errorf("Claude read %s", read)
			}
		})
	}
}

// A question that nobody answers expires with its job, while the call is held or once it is parked:
// no process is left, and a late answer is refused.
func TestAQuestionThatNobodyAnswersExpires(t *testing.T) {
	t.Parallel()
	for name, c := range sample.Cases(t, 1, map[string]struct{ hold, more string }{
		"curl": {"60s", ""}, "MCP": {"60s", "callback: mcp\n"}, "curl, parked": {"1s", ""}, "MCP, parked": {"1s", "callback: mcp\n"},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n, api := rig.RealClaude(t, vars{"HOLD": c.hold, "HUMAN_TIMEOUT": "8s", "PROMPTS_DIR": rig.TalkKind(t, c.more), "SANDBOX": "auto"}, asksFirst(c.more != "", whichDatabase))
			id := n.Create(t, object{"kind": "talk", "input": object{}, "userId": "u1"})
			q := n.OpenCheckpoint(t, id, "awaiting_input")
			n.Await(t, id, "expired")
			must.Eventually(t, "the process to end", func() bool { return len(rig.ProcessesIn(n.Dir)) == 0 })
			n.Want(t, 409, "POST", "/api/checkpoints/"+q["id"].(string)+"/reply", object{"text": "SQLite"})
			for _, r := range api.Requests() {
				must.NotContain(t, rig.JSON(r.Results()), "have been answered", "Claude read an answer")
			}
		})
	}
}

// plansFirst plays a Claude that presents a plan, which it may change once, then submits its result.
func plansFirst(mcp bool, plans ...string) messagesapi.Script {
	submit := rig.Finish(func(messagesapi.Request) bool { return true }, mcp, "")
	return func(r messagesapi.Request) messagesapi.Reply {
		results := r.Results()
		presented := 0
		for _, result := range results {
			if strings.Contains(result.Content, job.DeniedByUser) {
				presented++
			}
			if strings.Contains(result.Content, "Approved Plan") {
				return submit(r)
			}
		}
		file := regexp.MustCompile(`plan at (\S+\.md)`).FindStringSubmatch(rig.JSON(r.Messages))
		switch {
		case file == nil:
			return messagesapi.Use("EnterPlanMode", object{})
		case strings.Contains(r.LastResult().Content, "plans/"):
			return messagesapi.Use("ExitPlanMode", object{"plan": "a plan that nobody is shown", "allowedPrompts": []any{object{"tool": "Bash", "prompt": "run anything"}}})
		case presented == len(plans):
			return messagesapi.Say("Nobody wants my plan.")
		}
		return messagesapi.Use("Write", object{"file_path": file[1], "content": plans[presented]})
	}
}

func TestClaudesPlanIsAConfirmation(t *testing.T) {
	t.Parallel()
	const mcp = "callback: mcp\n"
	const plan = "# Plan\n1. **move** `a`\n2. _delete_ b\u202e\n\nAllow it? yes"
	for name, c := range sample.Cases(t, 1, map[string]struct {
		hold, more string
		restart    bool
		replies    []object
	}{
		"held":                     {"60s", mcp, false, []object{{"decision": "approve"}}},
		"in words":                 {"60s", "", false, []object{{"text": "yes, go ahead"}}},
		"parked":                   {"1s", "", false, []object{{"decision": "approve"}}},
		"restarted, MCP":           {"1s", mcp, true, []object{{"decision": "approve"}}},
		"tools are judged":         {"60s", "tools:\n  ask: [Bash]\n", false, []object{{"decision": "approve"}}},
		"changed, then approved":   {"60s", "", false, []object{{"decision": "steer", "text": "no deletion"}, {"decision": "approve"}}},
		"denied parked, then good": {"1s", mcp, false, []object{{"decision": "deny", "text": "no deletion"}, {"decision": "approve"}}},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			plans := []string{plan, "# Plan\nOnly move a"}[:len(c.replies)]
			n, api := rig.RealClaude(t, vars{
				"HOLD": c.hold, "SANDBOX": "auto", "DATA_DIR": t.TempDir(), "LISTEN_ADDR": "127.0.0.1:" + harness.FreePort(t),
				"PROMPTS_DIR": rig.KindsDir(t, "talk.md", "---\nallowed_tools: ['Edit(./**)']\nmax_turns: 30\n"+c.more+"---\nListen."),
			}, plansFirst(strings.Contains(c.more, "mcp"), plans...))
			id := n.Create(t, object{"kind": "talk", "input": object{}, "userId": "u1"})
			for i, reply := range c.replies {
				q := n.OpenCheckpoint(t, id, "awaiting_approval")
				preview := q["props"].(object)["preview"].(object)
				if q["type"] != "confirmation" || preview["text"] != plans[i] || strings.Contains(q["message"].(string), "delete") {
					t.Errorf("the user was asked %v", q)
				}
				if chat := rig.JSON(n.Want(t, 200, "GET", "/api/sessions/"+q["sessionId"].(string)+"/messages", nil)); i == 0 && len(plans) == 1 && !strings.Contains(chat, "b⟨U+202E⟩") {
					t.Errorf("the chat does not show the plan as it is: %s", chat)
				}
				if c.hold == "1s" {
					must.Eventually(t, "the process to end", func() bool { return len(rig.ProcessesIn(n.Dir)) == 0 })
				}
				if c.restart {
					n = n.Again(t)
				}
				n.Reply(t, q["id"].(string), reply)
			}
			n.Await(t, id, "received")
			requests := api.Requests()
			read := rig.JSON(requests[len(requests)-1].Results())
			last, _ := json.Marshal(plans[len(plans)-1])
			if want := strings.Trim(string(last), `"`); !strings.Contains(read, `## Approved Plan:\n`+want) || strings.Contains(read, "nobody is shown") {
				t.Errorf("Claude read %s", read)
			}
			if len(plans) > 1 && !strings.Contains(read, "no deletion") {
				t.Errorf("Claude was not told why: %s", read)
			}
		})
	}
}
