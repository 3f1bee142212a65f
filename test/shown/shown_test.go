package shown

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"ringback/client"
	"ringback/internal/job"
	"ringback/internal/people/notify"
	"ringback/internal/rules/approval"
	"ringback/internal/text/literal"
	"ringback/test/harness"
	"ringback/test/must"
)

func TestMain(m *testing.M) { os.Exit(harness.Main(m)) }

const slackSecret = "the signing secret of an app"

// TestWhatRanWasShown plays many rounds: Claude asks for something, a person says yes in one of the
// ways there are, and Claude calls again, with the same input or another one. SHOWN_ROUNDS sets their
// number.
func TestWhatRanWasShown(t *testing.T) {
	t.Parallel()
	rounds, seed := 300, uint64(time.Now().UnixNano())
	if text := os.Getenv("SHOWN_ROUNDS"); text != "" {
		rounds = must.Get(strconv.Atoi(text))(t)
	}
	if text := os.Getenv("SHOWN_SEED"); text != "" {
		seed = must.Get(strconv.ParseUint(text, 10, 64))(t)
	}
	t.Logf("SHOWN_SEED=%d", seed)
	w := startWorld(t, rand.New(rand.NewPCG(seed, 0)))
	var all sync.WaitGroup
	for n := range workers {
		all.Go(func() {
			p := &player{world: w, t: t, r: rand.New(rand.NewPCG(seed, uint64(n)+1)), user: "u" + strconv.Itoa(n)}
			for i := range rounds / workers {
				if i%40 == 0 || !p.live() {
					p.begin()
				}
				p.round()
				if t.Failed() {
					return
				}
			}
			p.end()
		})
	}
	all.Wait()
	t.Logf("%d rounds, approvals by door: %v", rounds, w.approved())
}

const workers = 4

// world is a server with random actions, and the webhook that they all call.
type world struct {
	*harness.Server
	actions []string
	mu      sync.Mutex
	ran     map[string][]raw // inputs of runs, by the job
	doors   map[string]int   // approvals, by door
}

func startWorld(t *testing.T, r *rand.Rand) *world {
	w := &world{ran: map[string][]raw{}, doors: map[string]int{}}
	sink := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) {
		var sent struct {
			Data struct {
				RequestID string
				Input     raw
			}
		}
		body, _ := io.ReadAll(req.Body)
		_ = json.Unmarshal(body, &sent)
		w.mu.Lock()
		defer w.mu.Unlock()
		w.ran[sent.Data.RequestID] = append(w.ran[sent.Data.RequestID], sent.Data.Input)
	}))
	t.Cleanup(sink.Close)
	dir := t.TempDir()
	must.OK(t, os.WriteFile(filepath.Join(dir, "random.md"), []byte(w.kind(r, sink.URL)), 0o600))
	w.Server = harness.Start(t, harness.Vars{
		"PROMPTS_DIR": dir, "HOLD": "30s", "SLACK_SIGNING_SECRET": slackSecret, "SANDBOX": "off", "CLAUDE_BIN": "simulate", "WORKERS": "8",
		"USER_LIMIT": "10000",
	}, nil)
	return w
}

// kind returns a kind with random actions, questions and schemas.
func (w *world) kind(r *rand.Rand, hook string) string {
	var text strings.Builder
	text.WriteString("---\ntools: {ask: [Bash, Write, Monitor], allow: ['Bash(ls *)']}\nactions:\n")
	for i := range 24 {
		name := "act" + strconv.Itoa(i)
		w.actions = append(w.actions, name)
		fmt.Fprintf(&text, "  - name: %s\n    webhook: '%s'\n", name, hook)
		declared := []string{"name", "to", "amount", "more", "text"}
		if r.IntN(5) > 0 {
			question := []string{"Do " + name}
			for _, field := range declared {
				if r.IntN(3) == 0 {
					question = append(question, ", "+field+` "{{input.`+field+`}}"`)
				}
			}
			if r.IntN(3) == 0 {
				question = append(question, " {{input.more.text}}")
			}
			fmt.Fprintf(&text, "    question: '%s?'\n", strings.Join(question, ""))
		}
		text.WriteString("    input: {type: object, properties: {")
		for _, field := range declared {
			fmt.Fprintf(&text, "%s: {title: The %s}, ", field, field)
		}
		text.WriteString("more: {properties: {text: {}}}}}\n")
		if r.IntN(4) == 0 {
			text.WriteString("    preview: {template: 'It would do {{input.name}} {{input.amount}}'}\n")
		}
	}
	return strings.ReplaceAll(text.String(), "more: {title: The more}, ", "") + "---\nDo it.\n"
}

func (w *world) approved() map[string]int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.doors
}

// player is Claude and a person in one job after another.
type player struct {
	*world
	t    *testing.T
	r    *rand.Rand
	user string

	id, session string
	envelope    harness.Object
	calls       int
	// granted counts the unused approvals by what was shown: the operation and its input.
	granted map[string]int
	// standing are the rules that were approved for the job or for always.
	standing map[string]bool
	seen     int    // runs that were looked at
	read     int    // the last message of the chat that was read
	chat     string // the last question that was read there
}

func (p *player) begin() {
	p.end()
	p.session = "s" + strconv.FormatUint(p.r.Uint64(), 36)
	p.id, p.envelope = p.Manual(p.t, nil, harness.Object{"kind": "random", "userId": p.user, "sessionId": p.session, "input": harness.Object{}})
	p.granted, p.standing, p.seen, p.read = map[string]int{}, map[string]bool{}, 0, 0
	for _, a := range p.list("/api/approvals?userId="+p.user, "approvals") { // those of earlier jobs
		p.do("DELETE", "/api/approvals/"+fmt.Sprint(a["id"])+"?userId="+p.user, nil)
	}
}

func (p *player) end() {
	if p.id != "" {
		p.do("POST", "/api/jobs/"+p.id+"/cancel", harness.Object{})
		p.id = ""
	}
}

func (p *player) live() bool { return p.id != "" && p.record()["status"] == "running" }

func (p *player) do(method, path string, body any) (int, harness.Object) {
	return harness.Send(p.t, p.URL, harness.Request{Method: method, Path: path, Body: body})
}

func (p *player) list(path, of string) (all []harness.Object) {
	_, answer := p.do("GET", path, nil)
	list, _ := answer[of].([]any)
	for _, one := range list {
		all = append(all, one.(harness.Object))
	}
	return all
}

func (p *player) record() harness.Object {
	_, answer := p.do("GET", "/api/jobs/"+p.id, nil)
	return answer
}

// operation is something that Claude asks for.
type operation struct {
	action, tool, dir string
	input             []field
	text              string // the input, as Claude writes it
}

// identity identifies what it does.
func (o operation) identity(input raw) string {
	return o.action + o.tool + " in " + o.dir + " " + identity(input)
}

func (p *player) operation() operation {
	if p.r.IntN(3) > 0 {
		o := operation{action: p.actions[p.r.IntN(len(p.actions))], input: append(fields(p.r, names, 0), field{"name", value(p.r, 0)})}
		o.input = unique(o.input)
		return p.written(o)
	}
	command := []string{"make x", "ls -l; make", "ls a", "make", "cat x # "}[p.r.IntN(5)] + strconv.Itoa(p.r.IntN(3))
	if p.r.IntN(6) == 0 {
		command += strings.Repeat("y", p.r.IntN(9000))
	}
	o := operation{tool: []string{"Bash", "Bash", "Monitor"}[p.r.IntN(3)], dir: []string{"", "", "/tmp", "/srv/a"}[p.r.IntN(4)], input: []field{{"command", command}}}
	if p.r.IntN(3) == 0 {
		o.input = append(o.input, field{"timeout", numbers[p.r.IntN(len(numbers))]})
	}
	return p.written(o)
}

func (p *player) written(o operation) operation {
	o.text = text(p.r, o.input)
	return o
}

// unique removes fields whose names occur before.
func unique(of []field) (all []field) {
	known := map[string]bool{}
	for _, f := range of {
		if !known[f.name] {
			all = append(all, f)
		}
		known[f.name] = true
	}
	return all
}

// call makes a call of Claude's, and returns the channel of its answer.
func (p *player) call(o operation, confirmed bool) <-chan harness.Object {
	p.calls++
	path, more := "/api/claude/actions/"+o.action, ""
	if confirmed {
		more = `,"confirmed":true`
	}
	body := fmt.Sprintf(`{"requestId":%q,"hmac":%q,"input":%s%s}`, p.id, p.envelope["hmac"], o.text, more)
	if o.tool != "" {
		path = "/api/claude/tool-calls"
		body = fmt.Sprintf(`{"requestId":%q,"hmac":%q,"tool_name":%q,"tool_use_id":"toolu_%d","cwd":%q,"tool_input":%s}`, p.id, p.envelope["hmac"], o.tool, p.calls, o.dir, o.text)
	}
	answer := make(chan harness.Object, 1)
	go func() {
		_, got := p.do("POST", path, body)
		answer <- got
	}()
	return answer
}

// asked waits for the question of a call, or for its answer if nobody is asked.
func (p *player) asked(call <-chan harness.Object, not string) (question *job.Checkpoint, answer harness.Object) {
	for range 20_000 {
		select {
		case answer = <-call:
			return nil, answer
		case <-time.After(time.Millisecond):
		}
		if q := p.open(); q != nil && string(q.ID) != not {
			return q, nil
		}
	}
	p.t.Error("nobody is asked, and nothing is answered")
	return nil, nil
}

func (p *player) open() *job.Checkpoint {
	resp := harness.Exchange(p.t, p.URL, harness.Request{Method: "GET", Path: "/api/jobs/" + p.id})
	var record struct{ Checkpoint *job.Checkpoint }
	_ = json.Unmarshal([]byte(resp.Text), &record)
	if record.Checkpoint == nil || record.Checkpoint.Status != job.Open {
		return nil
	}
	return record.Checkpoint
}

// round has Claude ask for one operation, somebody decide, and Claude go on.
func (p *player) round() {
	o := p.operation()
	call := p.call(o, false)
	question, answer := p.asked(call, "")
	if question == nil {
		p.settle(o, answer)
		return
	}
	d := doors[p.r.IntN(len(doors))]
	for range 4 {
		if p.r.IntN(12) == 0 { // somebody else decides first, and Claude asks for something else
			p.do("POST", "/api/checkpoints/"+string(question.ID)+"/reply", harness.Object{"decision": "deny"})
			p.settle(o, <-call)
			stale := question
			o = p.operation()
			call = p.call(o, false)
			if question, answer = p.asked(call, string(stale.ID)); question == nil {
				p.settle(o, answer)
				return
			}
			if d.latest { // it shows what is open
				continue
			}
			d.decide(p, *stale, o)
			select {
			case answer = <-call:
				if approves(answer) {
					p.t.Errorf("by %s: a yes to %s approved %s", d.name, stale.ID, o.text)
				}
				p.settle(o, answer)
				return
			case <-time.After(5 * time.Millisecond):
			}
			if question = p.open(); question == nil {
				p.settle(o, <-call)
				return
			}
		}
		shown := d.decide(p, *question, o)
		select {
		case answer = <-call:
		case <-time.After(10 * time.Millisecond):
			next := p.open()
			if next != nil && next.ID == question.ID { // this door does not allow it
				p.do("POST", "/api/checkpoints/"+string(question.ID)+"/reply", harness.Object{"decision": "deny"})
			} else if next != nil {
				question = next
				continue
			}
			answer = <-call
		}
		if !approves(answer) {
			p.settle(o, answer)
			return
		}
		p.grants(d, *question, o, shown)
		p.settle(o, answer)
		p.goesOn(o)
		return
	}
	p.do("POST", "/api/checkpoints/"+string(question.ID)+"/reply", harness.Object{"decision": "deny"})
	p.settle(o, <-call)
}

func approves(answer harness.Object) bool {
	output, _ := answer["hookSpecificOutput"].(harness.Object)
	return answer["decision"] == "approve" || output["permissionDecision"] == "allow"
}

// grants checks that a yes was to what was shown, and remembers what it permits.
func (p *player) grants(d door, q job.Checkpoint, o operation, shown string) {
	p.mu.Lock()
	p.doors[d.name]++
	p.mu.Unlock()
	input := inputOf(q)
	if d.edits {
		input = raw(shown)
	} else if absent := notIn(shown, input); absent != "" {
		p.t.Errorf("by %s: a yes to %s %s permitted what was not shown, %s:\n%s", d.name, o.action+o.tool, input, absent, shown)
	}
	if o.dir != "" && !strings.Contains(shown, literal.Quote(o.dir)) && !d.edits {
		p.t.Errorf("by %s: a yes to %s in %s did not show where:\n%s", d.name, o.tool, o.dir, shown)
	}
	p.granted[o.identity(input)]++
	if d.scope != "" {
		var props job.Props
		_ = json.Unmarshal(q.Props, &props)
		p.standing[props.Rule+" of "+o.tool+" "+o.dir] = true
	}
}

func inputOf(q job.Checkpoint) raw {
	var props job.Props
	_ = json.Unmarshal(q.Props, &props)
	if q.Type == job.ToolApproval {
		return props.ToolInput
	}
	return props.Input
}

// settle checks what an answer has let happen: what ran was granted, and each grant is used once.
func (p *player) settle(o operation, answer harness.Object) {
	if o.action != "" {
		p.mu.Lock()
		ran := p.ran[p.id][p.seen:]
		p.seen += len(ran)
		p.mu.Unlock()
		for _, input := range ran {
			p.spends(o, input)
		}
		return
	}
	output, _ := answer["hookSpecificOutput"].(harness.Object)
	if output["permissionDecision"] != "allow" {
		return
	}
	input := raw(o.text)
	if changed := output["updatedInput"]; changed != nil {
		input = job.MustJSON(changed)
		if p.granted[o.identity(input)] == 0 { // numbers have lost digits in this test's own decoder
			return
		}
	}
	p.spends(o, input)
}

func (p *player) spends(o operation, input raw) {
	key := o.identity(input)
	switch {
	case p.granted[key] > 0:
		p.granted[key]--
	case o.tool != "" && (p.covered(o) || free(o)):
	default:
		audit := strings.Split(strings.TrimSpace(harness.Text(p.t, p.URL+"/api/jobs/"+p.id+"/audit")), "\n")
		p.t.Errorf("it ran without a yes: %.500s\nstanding: %.500v\naudit: %s", key, p.standing, strings.Join(audit[max(0, len(audit)-4):], "\n"))
	}
}

// covered reports whether a standing approval covers a call: one for exactly it, or one for the tool.
func (p *player) covered(o operation) bool {
	for rule := range p.standing {
		if strings.HasPrefix(rule, o.tool+" of ") { // every call of the tool that can be understood
			return true
		}
		if _, text, exact := strings.Cut(rule, o.tool+": "); exact {
			text, dir, _ := strings.Cut(text, " of "+o.tool+" ")
			text = strings.TrimSuffix(text, " in the directory "+literal.Quote(dir))
			digest := must.Get(approval.OfTool(o.tool, p.decoded(o), ""))(p.t).InputDigest
			if dir == o.dir && (identity(raw(text)) == identity(raw(o.text)) || strings.HasSuffix(text, "digest "+digest)) {
				return true
			}
		}
	}
	return false
}

func (p *player) decoded(o operation) (input map[string]any) {
	must.OK(p.t, job.UnmarshalExact([]byte(o.text), &input))
	return input
}

// free reports whether the kind allows a call.
func free(o operation) bool {
	command, _ := o.input[0].value.(string)
	return o.tool == "Bash" && strings.HasPrefix(command, "ls ") && !strings.Contains(command, ";")
}

// goesOn has Claude call again: as it was allowed, or in some other way.
func (p *player) goesOn(o operation) {
	for range 1 + p.r.IntN(2) {
		next := o
		switch p.r.IntN(4) {
		case 0:
			next.input = unique(changed(p.r, o.input))
		case 1:
			if o.tool != "" {
				next.dir = "/elsewhere"
			}
		}
		next = p.written(next)
		call := p.call(next, true)
		if q, answer := p.asked(call, ""); q != nil {
			p.do("POST", "/api/checkpoints/"+string(q.ID)+"/reply", harness.Object{"decision": "deny"})
			p.settle(next, <-call)
		} else {
			p.settle(next, answer)
		}
	}
}

// door is a way to say yes.
type door struct {
	name  string
	edits bool // what it returns is the new input
	// latest is true if it shows, and answers, the question that is open.
	latest bool
	scope  string
	// decide says yes to a question, and returns what the person was shown.
	decide func(p *player, q job.Checkpoint, o operation) (shown string)
}

var doors = []door{
	{name: "chat", decide: func(p *player, q job.Checkpoint, _ operation) string { return p.says(&q) }},
	{name: "chat, unnamed", latest: true, decide: func(p *player, _ job.Checkpoint, _ operation) string { return p.says(nil) }},
	{name: "words", decide: func(p *player, q job.Checkpoint, _ operation) string {
		p.replies(q, harness.Object{"text": "yes"})
		return q.Message + chatOf(q)
	}},
	{name: "decision", decide: func(p *player, q job.Checkpoint, _ operation) string {
		p.replies(q, harness.Object{"decision": "approve", "shown": "whole"})
		return props(q)
	}},
	{name: "approve", decide: func(p *player, q job.Checkpoint, _ operation) string {
		p.do("POST", "/api/jobs/"+p.id+"/approve", harness.Object{"checkpointId": q.ID})
		return props(q)
	}},
	{name: "the job", scope: "job", decide: scoped("job")},
	{name: "always", scope: "always", decide: scoped("always")},
	{name: "edit", edits: true, decide: func(p *player, q job.Checkpoint, o operation) string {
		if o.tool == "" {
			p.replies(q, harness.Object{"decision": "deny"})
			return ""
		}
		edit := text(p.r, []field{{"command", "make edited" + strconv.FormatUint(p.r.Uint64(), 36)}})
		if p.r.IntN(4) == 0 {
			edit = "{}"
		}
		p.do("POST", "/api/checkpoints/"+string(q.ID)+"/reply", `{"decision":"approve","values":`+edit+`}`)
		return edit
	}},
	{name: "Slack", decide: func(p *player, q job.Checkpoint, _ operation) string {
		message := must.Get(notify.SlackQuestion(q, ""))(p.t)
		var sent struct {
			Blocks []struct{ Text struct{ Text string } }
		}
		must.OK(p.t, json.Unmarshal(message, &sent))
		var shown strings.Builder
		for _, b := range sent.Blocks {
			shown.WriteString(html.UnescapeString(b.Text.Text))
		}
		p.slack("approve " + string(q.ID))
		// A bar begins each row, and a long line has several.
		text := strings.ReplaceAll(shown.String(), "\n… ", "")
		return strings.ReplaceAll(text, "\n│ ", "") + "\n" + strings.ReplaceAll(text, "\n│ ", "\n")
	}},
	{name: "console", decide: func(p *player, q job.Checkpoint, _ operation) string {
		page := harness.Exchange(p.t, p.URL, harness.Request{Method: "GET", Path: "/inbox/" + string(q.ID), Header: map[string]string{"Accept": "text/html"}}).Text
		form := url.Values{"decision": {"approve"}, "scope": {"once"}}
		if m := changeField.FindStringSubmatch(page); m != nil {
			form.Set("input", html.UnescapeString(m[1]))
		}
		harness.Exchange(p.t, p.URL, harness.Request{Method: "POST", Path: "/inbox/" + string(q.ID), Body: form.Encode(), Header: map[string]string{"Content-Type": "application/x-www-form-urlencoded", "Accept": "text/html"}})
		return html.UnescapeString(tags.ReplaceAllString(page, ""))
	}},
	{name: "console, said", latest: true, decide: func(p *player, _ job.Checkpoint, _ operation) string {
		page := harness.Exchange(p.t, p.URL, harness.Request{Method: "GET", Path: "/jobs/" + p.id, Header: map[string]string{"Accept": "text/html"}}).Text
		form := url.Values{"text": {"yes"}}
		if m := shownQuestion.FindStringSubmatch(page); m != nil {
			form.Set(m[1], m[2])
		}
		harness.Exchange(p.t, p.URL, harness.Request{Method: "POST", Path: "/jobs/" + p.id + "/say", Body: form.Encode(), Header: map[string]string{"Content-Type": "application/x-www-form-urlencoded", "Accept": "text/html"}})
		return html.UnescapeString(tags.ReplaceAllString(page, ""))
	}},
	{name: "WebSocket", decide: func(p *player, q job.Checkpoint, _ operation) string {
		p.frame(harness.Object{"type": "reply", "checkpointId": q.ID, "text": "yes"})
		return q.Message + chatOf(q)
	}},
	{name: "WebSocket, decision", decide: func(p *player, q job.Checkpoint, _ operation) string {
		p.frame(harness.Object{"type": "reply", "checkpointId": q.ID, "decision": "approve"})
		return props(q)
	}},
	{name: "client", decide: func(p *player, q job.Checkpoint, _ operation) string {
		c := client.New(p.URL)
		_, _ = c.Say(p.t.Context(), p.session, p.user, "yes", q.MessageID)
		return q.Message + chatOf(q)
	}},
}

// frame sends a frame on a WebSocket of its own, and waits for its answer.
func (p *player) frame(frame harness.Object) {
	conn, resp, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(p.URL, "http")+"/ws?userId="+p.user, nil)
	if err != nil {
		p.t.Error(err)
		return
	}
	defer conn.Close()
	defer resp.Body.Close()
	_ = conn.WriteJSON(frame)
	for {
		var got struct{ Type string }
		if err := conn.ReadJSON(&got); err != nil || got.Type == "ack" || got.Type == "error" {
			return
		}
	}
}

var (
	tags          = regexp.MustCompile(`(?s)<script.*?</script>|<[^>]*>`)
	changeField   = regexp.MustCompile(`(?s)<textarea[^>]*name="input"[^>]*>(.*?)</textarea>`)
	shownQuestion = regexp.MustCompile(`<input type="hidden" name="(question)" value="(\d+)"`)
)

func scoped(scope string) func(*player, job.Checkpoint, operation) string {
	return func(p *player, q job.Checkpoint, _ operation) string {
		p.replies(q, harness.Object{"decision": "approve", "scope": scope})
		return props(q)
	}
}

func (p *player) replies(q job.Checkpoint, reply harness.Object) {
	p.do("POST", "/api/checkpoints/"+string(q.ID)+"/reply", reply)
}

// props returns what a client that shows the whole record shows.
func props(q job.Checkpoint) string {
	var v any
	_ = job.UnmarshalExact(q.Props, &v)
	return literal.Indented(v)
}

// chatOf returns the preview that a question has in the chat.
func chatOf(q job.Checkpoint) string {
	if made := job.PreviewIn(q.Props); made != nil {
		return strings.Join(made.Lines(), "\n")
	}
	return ""
}

// says writes yes into the chat, below the messages that it shows.
func (p *player) says(q *job.Checkpoint) string {
	for more := true; more; {
		page := p.list(fmt.Sprintf("/api/sessions/%s/messages?limit=100&userId=%s&after=%d", p.session, p.user, p.read), "messages")
		for _, m := range page {
			if m["messageType"] == "hitl_checkpoint" {
				p.chat = fmt.Sprint(m["content"])
			}
			p.read = int(m["id"].(float64))
		}
		more = len(page) > 0
	}
	body := harness.Object{"sessionId": p.session, "userId": p.user, "content": "yes"}
	if q != nil {
		body["props"] = harness.Object{"checkpoint_message_id": q.MessageID}
	}
	shown := p.chat
	p.do("POST", "/to-llm", body)
	return shown
}

func (p *player) slack(text string) {
	body := url.Values{"text": {text}, "user_id": {"U1"}, "user_name": {"ana"}, "team_id": {"T1"}}.Encode()
	stamp := strconv.FormatInt(time.Now().Unix(), 10)
	mac := hmac.New(sha256.New, []byte(slackSecret))
	mac.Write([]byte("v0:" + stamp + ":" + body))
	harness.Exchange(p.t, p.URL, harness.Request{Method: "POST", Path: "/api/slack/commands", Body: body, Header: map[string]string{
		"Content-Type": "application/x-www-form-urlencoded", "X-Slack-Request-Timestamp": stamp, "X-Slack-Signature": "v0=" + hex.EncodeToString(mac.Sum(nil)),
	}})
}
