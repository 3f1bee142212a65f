package people

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"ringback/test/harness"
	"ringback/test/messagesapi"
	"ringback/test/must"
	"ringback/test/rig"
	"ringback/test/sample"
)

// A message reaches the running turn in its next request; its author sees that it was
// heard, and when.
func TestARunningTurnHearsAMessage(t *testing.T) {
	t.Parallel()
	for name, c := range sample.Cases(t, 1, map[string]struct {
		mcp     bool
		sandbox string
	}{"curl": {false, "auto"}, "MCP": {true, "auto"}, "without a sandbox": {false, "off"}}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			more := map[bool]string{true: "callback: mcp\n"}[c.mcp]
			heard := func(r messagesapi.Request) bool { return strings.Contains(rig.WholeText(r), "Use the blue one") }
			working := make(chan struct{})
			begins := sync.OnceFunc(func() { close(working) })
			script := rig.Finish(heard, c.mcp, "sleep 0.3")
			n, api := rig.RealClaude(t, vars{"PROMPTS_DIR": rig.TalkKind(t, more), "SANDBOX": c.sandbox}, func(r messagesapi.Request) messagesapi.Reply {
				begins()
				return script(r)
			})
			events := n.Listen(t, "userId=u1")
			id := n.Create(t, object{"kind": "talk", "input": object{}, "userId": "u1", "sessionId": "s1"})
			<-working
			// It imitates the beginnings of more tokens than are looked at in a request.
			said := n.Say(t, "s1", "Use the blue one @/etc/hostname"+strings.Repeat(" word_", 1200))
			record := n.Await(t, id, "received")
			must.Equal(t, 1.0, record["turn"], "it took … turns")
			word := record["words"].([]any)[0].(object)
			if word["messageId"] != said || word["hearing"] != "heard" || word["turn"] != 1.0 || word["beforeToolCall"].(float64) < 2 || word["heardAt"] == nil {
				t.Errorf("the record says %v", word)
			}
			for _, m := range n.Messages(t, "s1", "") {
				if m["id"] == said && m["hearing"].(object)["hearing"] != "heard" {
					t.Errorf("the chat says %v", m)
				}
			}
			event := events.Until("talk:message:heard")
			if data := event[len(event)-1]["data"].(object); data["messageId"] != said || data["hearing"] != "heard" {
				t.Errorf("the event says %v", data)
			}
			last := rig.WholeText(api.Requests()[len(api.Requests())-1])
			must.Equal(t, 1, strings.Count(last, "Use the blue one"), "Claude was told … times")
		})
	}
}

// What is written while a subagent works, is heard by Claude itself, once the subagent has ended: not by
// the subagent, even if it calls back.
func TestASubagentGetsNoMessages(t *testing.T) {
	t.Parallel()
	sample.OneIn(t, 3)
	for _, mcp := range sample.Of(t, 1, []bool{false, true}) {
		t.Run(callsBackBy(mcp), func(t *testing.T) {
			t.Parallel()
			const said, task = "Use the blue one", "Report once."
			var n *rig.Node
			var prompt string
			submit, ready := rig.Finish(func(messagesapi.Request) bool { return true }, mcp, ""), make(chan struct{})
			isSubagent := func(r messagesapi.Request) bool { return !strings.Contains(r.Text(), "Listen.") }
			n, api := rig.RealClaude(t, vars{"SANDBOX": "auto", "PROMPTS_DIR": rig.TalkKind(t, "tools:\n  allow: [Agent]\n"+map[bool]string{true: "callback: mcp\n"}[mcp])}, func(r messagesapi.Request) messagesapi.Reply {
				<-ready
				results := len(r.Results())
				switch {
				case !isSubagent(r) && results == 0:
					prompt = r.Text()
					return messagesapi.Use("Agent", object{"description": "reports", "prompt": task, "subagent_type": "general-purpose", "run_in_background": false})
				case !isSubagent(r):
					return submit(r)
				case results == 0:
					n.Say(t, "s1", said)
				}
				report := object{"message": "Reporting"}
				if mcp {
					return rig.InOrder(results, rig.UseTool("report_progress", report))
				}
				return rig.InOrder(results, rig.Posts(prompt, "progress.json", report)...)
			})
			close(ready)
			record := n.Await(t, n.Create(t, object{"kind": "talk", "input": object{}, "userId": "u1", "sessionId": "s1"}), "received")
			told := 0
			for _, r := range api.Requests() {
				switch isTold := strings.Contains(rig.WholeText(r), said); {
				case isTold && isSubagent(r):
					t.Error("the subagent was told")
				case isTold:
					told++
				}
			}
			words, _ := record["words"].([]any)
			if told == 0 || len(words) != 1 || words[0].(object)["hearing"] != "heard" {
				t.Errorf("%d requests of Claude's have it, and the record says %v", told, words)
			}
		})
	}
}

// wordsTest simulates people who write to many jobs at random moments.
type wordsTest struct {
	testing.TB
	size wordsSize
	mu   sync.Mutex
	// node is the server, which is killed and restarted.
	node *rig.Node
	// sent contains the messages of each session in order. at is when they were sent, seen when a
	// request contained them, and in whose request that was.
	sent map[string][]string
	at   map[string]time.Time
	seen map[string]time.Time
	in   map[string]string
	// ends are the times at which the tools of each conversation were to end.
	ends map[string][]time.Time
	// over is set when no more messages are sent.
	over bool
}

// wordsSize is the number of messages, jobs and killed servers, and how long each tool runs and the most
// time between two messages.
type wordsSize struct {
	messages, jobs, kills int
	tool, between         time.Duration
}

var wordText = regexp.MustCompile(`word-of-(s\d+)-(\d+)\.`)

// Messages are sent at random moments to several jobs, while the server is killed and
// restarted: each is delivered exactly once, in order.
func TestEachMessageIsHeardOnce(t *testing.T) {
	t.Parallel()
	size := wordsSize{16, 2, 4, 300 * time.Millisecond, 200 * time.Millisecond}
	long := os.Getenv("LONG_TESTS") != ""
	if long {
		size = wordsSize{200, 30, 12, 10 * time.Second, time.Second}
	}
	for _, mcp := range sample.Of(t, 1, []bool{false, true}) {
		t.Run(callsBackBy(mcp), func(t *testing.T) {
			if !long { // 60 CLIs at once need 15 GB
				t.Parallel()
			}
			beyond := eachMessageOnce(t, size, mcp)
			t.Logf("of %d messages, p95 was heard %v after the end of the tool that ran", len(beyond), beyond[len(beyond)*95/100])
		})
	}
}

// BenchmarkMessagesAreHeard measures the time from the end of the tool that ran when a message was sent
// until the request to the model that contains it, for 10 jobs of the real CLI.
func BenchmarkMessagesAreHeard(b *testing.B) {
	for _, mcp := range []bool{false, true} {
		b.Run(callsBackBy(mcp), func(b *testing.B) {
			for b.Loop() {
				beyond := eachMessageOnce(b, wordsSize{100, 10, 0, 3 * time.Second, 500 * time.Millisecond}, mcp)
				for name, took := range map[string]time.Duration{"p50": beyond[len(beyond)/2], "p95": beyond[len(beyond)*95/100], "max": beyond[len(beyond)-1]} {
					b.ReportMetric(float64(took.Milliseconds()), name+"-ms-after-tool")
				}
			}
		})
	}
}

func callsBackBy(mcp bool) string { return map[bool]string{false: "curl", true: "MCP"}[mcp] }

// eachMessageOnce sends messages, checks that each is heard once and in order, and returns how long
// after the tool that ran each was heard, the shortest time first.
func eachMessageOnce(t testing.TB, size wordsSize, mcp bool) []time.Duration {
	t.Helper()
	w := &wordsTest{TB: t, size: size, sent: map[string][]string{}, at: map[string]time.Time{}, seen: map[string]time.Time{}, in: map[string]string{}, ends: map[string][]time.Time{}}
	final := map[string]messagesapi.Request{}
	command := fmt.Sprintf("sleep %g", size.tool.Seconds())
	script := rig.Finish(w.finished, mcp, command)
	more := map[bool]string{true: "callback: mcp\n"}[mcp]
	n, api := rig.RealClaude(t, vars{
		"LISTEN_ADDR": "127.0.0.1:" + harness.FreePort(t), "DATA_DIR": t.TempDir(), "PROMPTS_DIR": rig.TalkKind(t, more), "SANDBOX": "auto", "CLAUDE_CODE_MAX_RETRIES": "10",
		"WORKERS": strconv.Itoa(size.jobs), "USER_LIMIT": strconv.Itoa(size.jobs), "CALLBACK_TIMEOUT": "20m",
	}, func(r messagesapi.Request) messagesapi.Reply {
		w.note(r)
		return script(r)
	})
	w.node = n
	var ids []string
	for i := range size.jobs {
		ids = append(ids, n.Create(t, object{"kind": "talk", "input": object{}, "userId": "u1", "sessionId": fmt.Sprintf("s%d", i)}))
	}
	for _, id := range ids {
		must.Eventually(t, "Claude to be at work", func() bool { return n.Want(t, 200, "GET", "/api/jobs/"+id, nil)["phase"] == "claude" })
	}
	must.Eventually(t, "each CLI to have started its shell", func() bool { return w.ran(2) == size.jobs })
	for i := range size.messages {
		w.send(fmt.Sprintf("s%d", rand.N(size.jobs)), i)
		time.Sleep(rand.N(size.between)) // random timing is the point
		if size.kills > 0 && i%max(1, size.messages/size.kills) == size.messages/size.kills-1 {
			w.node = w.node.Again(t)
		}
	}
	w.mu.Lock()
	w.over = true
	w.mu.Unlock()
	for _, id := range ids {
		record := w.node.Await(t, id, "received")
		words, _ := record["words"].([]any) // there may be no messages to this one
		for _, word := range words {
			must.Equal(t, "heard", word.(object)["hearing"], id, word)
		}
	}
	for _, r := range api.Requests() {
		final[r.Conversation] = r
	}
	told := map[string][]string{}
	for _, r := range final {
		for _, found := range wordText.FindAllStringSubmatch(rig.WholeText(r), -1) {
			told[found[1]] = append(told[found[1]], found[0])
		}
	}
	for session, sent := range w.sent {
		if !slices.Equal(told[session], sent) {
			t.Errorf("%s: Claude was told %v, sent was %v", session, told[session], sent)
		}
	}
	return w.beyond()
}

// send sends a message to a session.
func (w *wordsTest) send(session string, i int) {
	text, at := fmt.Sprintf("word-of-%s-%d.", session, i), time.Now()
	w.node.Say(w, session, text)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sent[session] = append(w.sent[session], text)
	w.at[text] = at
}

// note records the words that a request contains for the first time, and when the tool that it is
// answered with is to end.
func (w *wordsTest) note(r messagesapi.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	for _, text := range wordText.FindAllString(rig.WholeText(r), -1) {
		if w.seen[text].IsZero() {
			w.seen[text], w.in[text] = now, r.Conversation
		}
	}
	w.ends[r.Conversation] = append(w.ends[r.Conversation], now.Add(w.size.tool))
}

// ran returns the number of conversations with so many requests.
func (w *wordsTest) ran(requests int) (n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, ends := range w.ends {
		if len(ends) >= requests {
			n++
		}
	}
	return n
}

// finished reports whether no more messages are sent, and all of them are in some
// conversation.
func (w *wordsTest) finished(messagesapi.Request) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.over && len(w.seen) == len(w.at)
}

// beyond returns how long after the end of the tool that ran, or else of the next one, each message was
// in a request.
func (w *wordsTest) beyond() (all []time.Duration) {
	for text, at := range w.at {
		ends := w.ends[w.in[text]]
		next := slices.IndexFunc(ends, func(end time.Time) bool { return end.After(at) })
		all = append(all, max(0, w.seen[text].Sub(ends[next])))
	}
	slices.Sort(all)
	return all
}

// Messages that are sent just as a turn ends are in exactly one request first, in the order sent:
// one of that turn's, or of the next one's.
func TestAMessageIsHeardOnceAsATurnEnds(t *testing.T) {
	t.Parallel()
	sample.OneIn(t, 3)
	const ends = 3
	for name, more := range sample.Cases(t, 1, map[string]string{"curl": "max_blocks: 0\n", "MCP": "max_blocks: 0\ncallback: mcp\n"}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sent := map[float64]string{}
			var n *rig.Node
			var mu sync.Mutex
			var sending sync.WaitGroup
			ended := 0
			send := func(text string) {
				time.Sleep(rand.N(time.Second)) // the moment is what is tried: the turn ends meanwhile
				status, answer := n.Do(t, "POST", "/to-llm", object{"sessionId": "s1", "userId": "u1", "content": text})
				mu.Lock()
				defer mu.Unlock()
				if id, ok := answer["messageId"].(float64); ok {
					sent[id] = text
				} else {
					t.Errorf("%s was answered with %d", text, status)
				}
			}
			all := func(r messagesapi.Request) bool { return len(wordText.FindAllString(rig.WholeText(r), -1)) >= ends }
			submit := rig.Finish(all, more != "max_blocks: 0\n", "sleep 0.2")
			ready := make(chan struct{})
			n, api := rig.RealClaude(t, vars{"PROMPTS_DIR": rig.TalkKind(t, more), "SANDBOX": "auto"}, func(r messagesapi.Request) messagesapi.Reply {
				<-ready
				if ended == ends {
					return submit(r)
				}
				ended++
				text := fmt.Sprintf("word-of-s1-%d.", ended)
				sending.Go(func() { send(text) })
				return messagesapi.Say("I stop here.")
			})
			close(ready)
			record := n.Await(t, n.Create(t, object{"kind": "talk", "input": object{}, "userId": "u1", "sessionId": "s1"}), "received")
			sending.Wait()
			var want []string
			for _, id := range slices.Sorted(maps.Keys(sent)) {
				want = append(want, sent[id])
			}
			if got := wordText.FindAllString(rig.WholeText(api.Requests()[len(api.Requests())-1]), -1); !slices.Equal(got, want) {
				t.Errorf("Claude was told %v, sent was %v", got, want)
			}
			for _, word := range record["words"].([]any) {
				must.Equal(t, "heard", word.(object)["hearing"], "the record says", word)
			}
		})
	}
}

// The answer to the next callback holds what was written, once, and only where the call is signed.
func TestTheAnswerToACallbackHoldsWhatWasWritten(t *testing.T) {
	t.Parallel()
	n := rig.Start(t, nil)
	id, envelope := n.Manual(t, object{"userId": "u1", "sessionId": "s1"})
	report := func(envelope object, text string) []any {
		t.Helper()
		told, _ := n.Want(t, 200, "POST", "/api/claude/progress", rig.With(envelope, object{"message": text}))["messages"].([]any)
		return told
	}
	if told := report(envelope, "Looking"); told != nil {
		t.Errorf("nobody has written, and Claude is told %v", told)
	}
	n.Say(t, "s1", "No nuts, please")
	n.Say(t, "s1", "And no fish")
	if told := report(object{"requestId": id}, "Looking on"); told != nil {
		t.Errorf("whoever knows the requestId reads %v", told)
	}
	told := report(envelope, "Looking on") // the same report as before
	if len(told) != 2 || told[0].(object)["content"] != "No nuts, please" || told[1].(object)["content"] != "And no fish" {
		t.Errorf("Claude is told %v", told)
	}
	must.Eventually(t, "the messages to be heard", func() bool {
		words := n.Want(t, 200, "GET", "/api/jobs/"+id, nil)["words"].([]any)
		return len(words) == 2 && words[0].(object)["hearing"] == "heard" && words[1].(object)["hearing"] == "heard"
	})
	if told := report(envelope, "Almost done"); told != nil {
		t.Errorf("Claude is told once more: %v", told)
	}
	n.Want(t, 200, "POST", "/api/claude/suggestions", rig.With(envelope, rig.MealResult("Soup")))
	if jobs := n.Want(t, 200, "GET", "/api/jobs?userId=u1", nil)["jobs"].([]any); len(jobs) != 1 {
		t.Errorf("what was heard began another job: %v", jobs)
	}
}

// So do the responses to an action and to a question that was answered. If a question is
// parked, the next turn begins with it.
func TestTheAnswersToQuestionsAndActionsHoldWhatWasWritten(t *testing.T) {
	t.Parallel()
	prompts := rig.KindsDir(t, "shop.md", "---\nactions:\n  - name: look\n    confirm: never\n    command: [echo, seen]\n---\nShop.")
	for name, c := range map[string]struct {
		path string
		call object
		told bool
	}{
		"an action":         {"actions/look", object{"input": object{}}, true},
		"a question":        {"checkpoints", rig.RatioQuestion(), true},
		"a parked question": {"checkpoints", rig.RatioQuestion(), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n := rig.Start(t, vars{"PROMPTS_DIR": prompts, "HOLD": map[bool]string{true: "1m", false: "0s"}[c.told]})
			id, envelope := n.Manual(t, object{"kind": "shop", "input": object{}, "userId": "u1", "sessionId": "s1"})
			n.Say(t, "s1", "No nuts, please")
			answers := make(chan object, 1)
			go func() { answers <- n.Want(t, 200, "POST", "/api/claude/"+c.path, rig.With(envelope, c.call)) }()
			if c.path == "checkpoints" && c.told {
				asked := n.OpenCheckpoint(t, id, "awaiting_input")["id"].(string)
				n.Want(t, 200, "POST", "/api/checkpoints/"+asked+"/reply", object{"values": object{"aspect_ratio": "1:1"}})
			}
			answer := <-answers
			told, _ := answer["messages"].([]any)
			if !c.told {
				if told != nil || answer["status"] != "parked" {
					t.Errorf("Claude is told %v", answer)
				}
				return
			}
			if len(told) != 1 || told[0].(object)["content"] != "No nuts, please" {
				t.Errorf("Claude is told %v", answer)
			}
			must.Eventually(t, "the message to be heard", func() bool {
				return n.Want(t, 200, "GET", "/api/jobs/"+id, nil)["words"].([]any)[0].(object)["hearing"] == "heard"
			})
		})
	}
}

// On the command line, say --wait ends when Claude has heard the message, not before.
func TestSayWaitsUntilItIsHeard(t *testing.T) {
	t.Parallel()
	n := rig.Start(t, nil)
	id, envelope := n.Manual(t, object{"userId": "u1", "sessionId": "s1"})
	cli, printed := rig.CommandLine(t, n), make(chan string, 1)
	go func() { printed <- cli("say", "--session", "s1", "--wait", "No", "nuts") }()
	must.Eventually(t, "the message to be there", func() bool {
		words, _ := n.Want(t, 200, "GET", "/api/jobs/"+id, nil)["words"].([]any)
		return len(words) == 1
	})
	select {
	case text := <-printed:
		t.Fatalf("it ended before Claude heard it: %s", text)
	case <-time.After(time.Second): // some time to read the message
	}
	n.Want(t, 200, "POST", "/api/claude/progress", rig.With(envelope, object{"message": "Looking"}))
	n.Want(t, 200, "POST", "/api/claude/progress", rig.With(envelope, object{"message": "Looking on"})) // this acknowledges the response
	if text := <-printed; !strings.Contains(text, "No nuts") || !strings.Contains(text, "read in turn 1") {
		t.Errorf("it printed %s", text)
	}
}

// cutOff makes a callback that asks, and breaks the connection off when the question is open.
func cutOff(t testing.TB, n *rig.Node, id, state, endpoint string, body object) (asked string) {
	t.Helper()
	ctx, end := context.WithCancel(t.Context())
	call := must.Get(http.NewRequestWithContext(ctx, "POST", n.URL+"/api/claude/"+endpoint, strings.NewReader(rig.JSON(body))))(t)
	call.Header.Set("Content-Type", "application/json")
	ended := make(chan error)
	go func() {
		res, err := http.DefaultClient.Do(call)
		if err == nil {
			_ = res.Body.Close()
		}
		ended <- err
	}()
	asked = n.OpenCheckpoint(t, id, state)["id"].(string)
	end()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Fatalf("the call ended with %v", err)
	}
	return asked
}

// A reply whose call was cut off is told to the turn when the step of the call has ended, once. After an
// approval, the call that is made again is not asked about again, and the approval is not told any more.
func TestAReplyWhoseCallWasCutOffIsTold(t *testing.T) {
	t.Parallel()
	prompts := rig.KindsDir(t, "shop.md", "---\nallowed_tools: [Bash]\ntools:\n  ask: [Bash]\nactions:\n  - name: order\n    command: [echo, ordered]\n---\nShop.")
	tool := object{"tool_name": "Bash", "tool_use_id": "toolu_1", "cwd": "/", "tool_input": object{"command": "make stock"}}
	order := object{"input": object{"item": "a lamp"}}
	for name, c := range map[string]struct {
		state, endpoint string
		call, reply     object
		told, again     string
		done            string
	}{
		"a question": {"awaiting_input", "checkpoints", object{"type": "information_request", "message": "Which database?"}, object{"text": "SQLite"}, "Which database?.*SQLite", "", ""},
		"an action":  {"awaiting_approval", "actions/order", order, object{"decision": "approve"}, `approve.*again.*confirmed`, "actions/order", `"success":true`},
		"a tool":     {"awaiting_approval", "tool-calls", tool, object{"decision": "approve"}, `approve.*again`, "tool-calls", `"permissionDecision":"allow"`},
		"a refusal":  {"awaiting_approval", "tool-calls", tool, object{"decision": "deny", "text": "Not today"}, `deny`, "tool-calls", `"permissionDecision":"deny"`},
	} {
		for _, told := range []bool{true, false} {
			if c.again == "" && !told {
				continue
			}
			t.Run(fmt.Sprintf("%s, told %v", name, told), func(t *testing.T) {
				t.Parallel()
				n := rig.Start(t, vars{"PROMPTS_DIR": prompts})
				id, envelope := n.Manual(t, object{"kind": "shop", "input": object{}, "userId": "u1", "sessionId": "s1"})
				asked := cutOff(t, n, id, c.state, c.endpoint, rig.With(envelope, c.call))
				n.Reply(t, asked, c.reply)
				ask := func(endpoint string, body object) string {
					t.Helper()
					return rig.JSON(n.Want(t, 200, "POST", "/api/claude/"+endpoint, rig.With(envelope, body)))
				}
				step := object{"hook_event_name": "PostToolBatch"}
				isTold := regexp.MustCompile(c.told).MatchString
				if text := ask("progress", object{"message": "Trying again"}); isTold(text) {
					t.Errorf("before the step has ended, Claude is told %s", text)
				}
				if told {
					if text := ask("tool-calls", step); !isTold(text) {
						t.Errorf("when the step has ended, Claude is told %s", text)
					}
					must.Eventually(t, "the reply not to be told again", func() bool { return !isTold(ask("tool-calls", step)) })
				}
				if c.again == "" {
					return
				}
				must.Contain(t, ask(c.again, rig.With(c.call, object{"confirmed": true})), c.done, "the call that is made again")
				if text := ask("tool-calls", step); isTold(text) {
					t.Errorf("after the call was made again, Claude is told %s", text)
				}
			})
		}
	}
}
