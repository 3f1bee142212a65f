package people

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ringback/test/harness"
	"ringback/test/messagesapi"
	"ringback/test/must"
	"ringback/test/rig"
	"ringback/test/sample"
)

// playMedia plays Claude for the kind media, as its prompt asks: it calls the action, asks
// the user about what the provider rejects, and continues with the answer.
func playMedia(r messagesapi.Request) messagesapi.Reply {
	prompt := r.Text()
	curl := rig.Curls(prompt)
	ratio := "invalid"
	if strings.Contains(prompt, `"aspect_ratio": "16:9"`) {
		ratio = "16:9"
	}
	input := object{"prompt": "a lake", "media_type": "image", "aspect_ratio": ratio}
	last := r.LastResult()
	switch {
	case strings.Contains(last.Content, `"status":"parked"`) && ratio == "invalid":
		return messagesapi.Say("I wait for the user.")
	case strings.Contains(last.Content, `"status":"success"`):
		return rig.WriteFile("result.json", rig.Callback(prompt, object{
			"url": "media/image.svg", "aspect_ratio": ratio, "message": "Here is your image in " + ratio + ".",
		}))
	case strings.Contains(last.Content, "valid_values"):
		return rig.WriteFile("checkpoint.json", rig.Callback(prompt, rig.RatioQuestion()))
	case strings.Contains(last.Content, `"success":true`):
		return messagesapi.Say("Done.")
	case strings.Contains(last.Content, "checkpoint.json"):
		return messagesapi.Bash(curl["checkpoints"])
	case strings.Contains(last.Content, "result.json"):
		return messagesapi.Bash(curl["result"])
	case strings.Contains(last.Content, "action.json") && len(r.Results())%2 == 1:
		return messagesapi.Bash(curl["actions/generateMedia"])
	}
	return rig.WriteFile("action.json", rig.Callback(prompt, object{"input": input}))
}

// A conversation as a person would have it, step by step.
func TestMediaFlowWithTheRealCLI(t *testing.T) {
	t.Parallel()
	sample.OneIn(t, 3)
	n, _ := rig.RealClaude(t, vars{"HOLD": "1s"}, playMedia)
	events := n.Listen(t, "userId=test-user")
	run := n.Want(t, 202, "POST", "/hitl/runs", object{
		"prompt": "Generate video with invalid aspect ratio", "session_id": "test-session", "user_id": "test-user",
		"agent_tool_config": object{"aspect_ratio": "invalid"},
	})
	id := run["run_id"].(string)
	must.Eventually(t, "the job to park", func() bool {
		return n.Want(t, 200, "GET", "/hitl/runs/"+id, nil)["status"] == "awaiting_input" && len(rig.ProcessesIn(n.Dir)) == 0
	})
	paused := n.Want(t, 200, "GET", "/hitl/runs/"+id, nil)
	for field, want := range map[string]any{"step": "API_CALL", "checkpoint_type": "error_recovery", "conversation_mode": true} {
		must.Equal(t, want, paused[field], "the run's", field)
	}
	asked := events.Message("HITL_CHECKPOINT")
	if asked["status"] != "awaiting_human" || asked["sessionId"] != "test-session" {
		t.Errorf("the chat was told %v", asked)
	}

	sent := n.Want(t, 200, "POST", "/to-llm", object{"sessionId": "test-session", "userId": "test-user", "content": "Use 16:9"})
	if sent["success"] != true || sent["messageId"] == nil {
		t.Errorf("/to-llm answered %v", sent)
	}
	record := n.Await(t, id, "received")
	must.Equal(t, "16:9", record["result"].(object)["aspect_ratio"], "the result's aspect ratio is")
	if !strings.Contains(n.Log.String(), "Resuming from error recovery") || !strings.Contains(n.Log.String(), "User responding to HITL checkpoint: error_recovery") {
		t.Error("the log does not tell of the reply and the resumption")
	}
	checkHistory(t, n.Messages(t, "test-session", ""), id)
}

// checkHistory checks the messages of the chat.
func checkHistory(t *testing.T, all []object, id string) {
	t.Helper()
	var story []string
	var checkpointID any
	for _, m := range all {
		props, _ := m["props"].(object)
		switch {
		case m["messageType"] == "hitl_checkpoint":
			checkpointID = m["id"]
			want := object{
				"checkpoint_type": "error_recovery", "awaiting_response": false, "run_id": id, "error_type": "validation",
				"error_field": "aspect_ratio", "current_value": "invalid", "valid_values": []any{"16:9", "9:16", "1:1"},
				"suggested_replies": []any{"16:9", "9:16", "1:1", "Cancel"},
			}
			must.Equal(t, want, props, "the checkpoint's props")
			story = append(story, "checkpoint")
		case m["sender"] == "user" && props != nil:
			want := object{
				"in_response_to": "error_recovery", "resolves_checkpoint": true, "checkpoint_run_id": id, "checkpoint_message_id": checkpointID,
			}
			must.Equal(t, want, props, "the reply's props")
			story = append(story, "reply: "+m["content"].(string))
		case m["sender"] == "user":
			story = append(story, "request: "+m["content"].(string))
		case m["messageType"] == "result":
			story = append(story, "answer: "+m["content"].(string))
		}
	}
	want := []string{
		"request: Generate video with invalid aspect ratio", "checkpoint", "reply: Use 16:9", "answer: Here is your image in 16:9.",
	}
	must.Equal(t, want, story)
}

func TestReplyWhileHeldGoesOnInTheSameTurn(t *testing.T) {
	t.Parallel()
	rig.OnEachStore(t, func(t *testing.T, env vars) {
		n := rig.Start(t, env)
		id, envelope := n.Manual(t, object{"userId": "u1", "sessionId": "s1"})
		answers := make(chan object, 1)
		go func() {
			answers <- n.Want(t, 200, "POST", "/api/claude/checkpoints", rig.With(envelope, rig.RatioQuestion()))
		}()
		c := n.OpenCheckpoint(t, id, "awaiting_input")
		if status, refused := n.Do(t, "POST", "/api/claude/result", rig.With(envelope, rig.MealResult("Soup"))); status != 409 || !strings.Contains(fmt.Sprint(refused["hint"]), "Stop now") {
			t.Errorf("a result while the user is asked was answered %d %v", status, refused)
		}
		after := n.Reply(t, c["id"].(string), object{"text": "1:1 please"})
		must.Equal(t, "answered", after["status"], "the checkpoint is", after)
		answer := <-answers
		values := answer["reply"].(object)["values"]
		if diff := cmp.Diff(object{"aspect_ratio": "1:1"}, values); answer["status"] != "answered" || diff != "" {
			t.Errorf("Claude was answered %v", answer)
		}
		if status, again := n.Do(t, "POST", "/api/checkpoints/"+c["id"].(string)+"/reply", object{"text": "16:9"}); status != 409 || !strings.Contains(fmt.Sprint(again["hint"]), "already answered") {
			t.Errorf("a second reply was answered %d %v", status, again)
		}
		record := n.Want(t, 200, "GET", "/api/jobs/"+id, nil)
		if record["status"] != "running" || record["turn"] != 1.0 {
			t.Errorf("the job is %v in turn %v", record["status"], record["turn"])
		}
		n.Want(t, 200, "POST", "/api/claude/suggestions", rig.With(envelope, rig.MealResult("Soup")))
	})
}

func TestFormIsCheckedField(t *testing.T) {
	t.Parallel()
	n := rig.Start(t, vars{"HOLD": "0s"})
	id, envelope := n.Manual(t, object{"userId": "u1"})
	answer := n.Want(t, 200, "POST", "/api/claude/checkpoints", rig.With(envelope, object{
		"type": "form_requirements", "message": "Please fill in.", "props": object{"schema": object{
			"type": "object", "required": []any{"email", "count"}, "properties": object{
				"email": object{"type": "string", "format": "email"}, "count": object{"type": "integer", "minimum": 1}, "size": object{"type": "string", "enum": []any{"S", "M"}},
			},
		}},
	}))
	if answer["status"] != "parked" {
		t.Fatalf("Claude was answered %v", answer)
	}
	c := n.OpenCheckpoint(t, id, "awaiting_input")["id"].(string)
	status, refused := n.Do(t, "POST", "/api/checkpoints/"+c+"/reply", object{"values": object{"email": "nobody", "size": "L"}})
	got := rig.Details(t, refused)
	if status != 400 || got["/values/email"] == "" || got["/values/count"] == "" || got["/values/size"] == "" {
		t.Errorf("answered %d %v", status, refused)
	}
	ws := n.Listen(t, "userId=u1")
	must.OK(t, ws.Conn.WriteJSON(object{"type": "reply", "checkpointId": c, "values": object{"email": "a@example.com", "count": 0}}))
	if frame := ws.Next(); frame["type"] != "error" || !strings.Contains(fmt.Sprint(frame["details"]), "/values/count") {
		t.Errorf("the WebSocket answered %v", frame)
	}
	must.OK(t, ws.Conn.WriteJSON(object{"type": "reply", "checkpointId": c, "values": object{"email": "a@example.com", "count": 2}}))
	for frame := ws.Next(); frame["type"] != "ack"; frame = ws.Next() {
		if frame["type"] == "error" {
			t.Fatalf("the WebSocket answered %v", frame)
		}
	}
	reply := n.Want(t, 200, "GET", "/api/checkpoints/"+c, nil)["reply"].(object)
	must.Equal[any](t, object{"email": "a@example.com", "count": 2.0}, reply["values"])
}

// One answer goes to several questions, each of which the sender was shown. It decides about
// nothing.
func TestManyQuestionsAreAnsweredAtOnce(t *testing.T) {
	t.Parallel()
	n := rig.Start(t, vars{"HOLD": "0s"})
	ask := func(question object) (id, asked string, envelope object) {
		t.Helper()
		id, envelope = n.Manual(t, object{"userId": "u1"})
		n.Want(t, 200, "POST", "/api/claude/checkpoints", rig.With(envelope, question))
		must.Eventually(t, "the job to be parked", func() bool {
			c, is := n.Want(t, 200, "GET", "/api/jobs/"+id, nil)["checkpoint"].(object)
			if is {
				asked = c["id"].(string)
			}
			return is
		})
		return id, asked, envelope
	}
	zone := object{"type": "information_request", "message": "Which time zone?"}
	form := rig.With(zone, object{"props": object{"schema": object{"type": "object", "required": []any{"hours"}, "properties": object{"hours": object{"type": "integer", "maximum": 24}}}}})
	first, asked1, _ := ask(zone)
	second, asked2, envelope := ask(zone)
	third, asked3, _ := ask(form)
	gate, asked4, _ := ask(object{"type": "confirmation", "message": "Deploy to the region?"})
	body := object{"action": "answer", "text": "hours: 90", "requestIds": []any{first, second, third, gate}, "checkpointIds": []any{asked1, asked2, asked3, asked4}}

	for path, wrong := range map[string]object{
		"/checkpointIds": {"checkpointIds": []any{asked1}}, "/text": {"text": " "}, "/action": {"action": "approve"},
	} {
		must.Contain(t, rig.JSON(n.Want(t, 400, "POST", "/api/jobs/bulk", rig.With(body, wrong))), path, wrong, "was refused by")
	}
	if refused := rig.JSON(n.Want(t, 400, "POST", "/api/jobs/bulk", rig.With(body, object{"action": "cancel"}))); !strings.Contains(refused, "only the action answer accepts it") {
		t.Errorf("an answer with cancel was refused by %s", refused)
	}

	// The second job asks something else by the time that the answer comes.
	n.Want(t, 200, "POST", "/api/checkpoints/"+asked2+"/reply", object{"text": "CET"})
	n.Renew(t, envelope)
	n.Want(t, 200, "POST", "/api/claude/checkpoints", rig.With(envelope, object{"type": "information_request", "message": "Which currency?"}))
	n.Await(t, second, "awaiting_input")
	done := n.Want(t, 200, "POST", "/api/jobs/bulk", body)
	var faults []string
	for _, outcome := range done["jobs"].([]any) {
		fault, _ := outcome.(object)["error"].(string)
		faults = append(faults, fault)
	}
	for i, want := range []string{"", "no longer waits at the checkpoint", "was not clear", "cannot be answered in bulk"} {
		if (faults[i] == "") != (want == "") || !strings.Contains(faults[i], want) {
			t.Errorf("outcome %d is %q, want %q", i, faults[i], want)
		}
	}
	if reply := n.Want(t, 200, "GET", "/api/checkpoints/"+asked1, nil)["reply"].(object); done["succeeded"] != 1.0 || reply["text"] != "hours: 90" {
		t.Errorf("%v jobs were answered, the first with %v", done["succeeded"], reply)
	}
	n.Await(t, gate, "awaiting_approval")
}

func TestNobodyAnswers(t *testing.T) {
	t.Parallel()
	n := rig.Start(t, vars{"HOLD": "0s", "HUMAN_TIMEOUT": "1s"})
	events := n.Listen(t, "userId=u1")
	id, envelope := n.Manual(t, object{"userId": "u1", "sessionId": "s1"})
	n.Want(t, 200, "POST", "/api/claude/checkpoints", rig.With(envelope, rig.RatioQuestion()))
	frames := events.Until("recipes:suggestions:error")
	if data := frames[len(frames)-1]["data"].(object); data["errorCode"] != "human_timeout" {
		t.Errorf("the error event says %v", data)
	}
	all := n.Messages(t, "s1", "")
	if last := all[len(all)-1]; last["messageType"] != "notice" || !strings.Contains(last["content"].(string), "No one answered in time") {
		t.Errorf("the chat ends with %v", last)
	}
	list := n.Want(t, 200, "GET", "/api/checkpoints?status=expired", nil)["checkpoints"].([]any)
	if len(list) != 1 {
		t.Fatalf("%d checkpoints have expired", len(list))
	}
	status, _ := n.Do(t, "POST", "/api/checkpoints/"+list[0].(object)["id"].(string)+"/reply", object{"text": "16:9"})
	must.Equal(t, 409, status, "a reply after the deadline was answered")
	must.Equal(t, "expired", n.Want(t, 200, "GET", "/api/jobs/"+id, nil)["status"], "the job is")
}

// The server is killed between all steps of the flow.
func TestMediaFlowSurvivesARestartAtEachStep(t *testing.T) {
	t.Parallel()
	sample.OneIn(t, 3)
	redis, dir := rig.StartRedis(t).URL, t.TempDir()
	env := vars{"REDIS_URL": redis, "DATA_DIR": dir, "HOLD": "0s", "NODE_TIMEOUT": "1s", "LISTEN_ADDR": "127.0.0.1:" + harness.FreePort(t)}
	n := rig.Start(t, env)
	restart := func() {
		t.Helper()
		n.Kill(t)
		n = rig.Start(t, env)
	}
	id, envelope := n.Manual(t, object{"userId": "u1", "sessionId": "s1", "kind": "media", "input": object{"prompt": "a lake", "aspect_ratio": "invalid"}})
	restart()
	n.Await(t, id, "running")
	n.Want(t, 200, "POST", "/api/claude/checkpoints", rig.With(envelope, rig.RatioQuestion()))
	restart()
	c := n.OpenCheckpoint(t, id, "awaiting_input")
	n.Say(t, "s1", "mumble") // read by Claude, or asked again
	restart()
	var again object
	must.Eventually(t, "the question to be put again", func() bool {
		again, _ = n.Want(t, 200, "GET", "/api/jobs/"+id, nil)["checkpoint"].(object)
		return again != nil && again["id"] != c["id"] && again["status"] == "open"
	})
	restart()
	n.Reply(t, again["id"].(string), object{"text": "Use 16:9"})
	restart()
	n.Await(t, id, "running")
	values := n.Want(t, 200, "GET", "/api/jobs/"+id+"/callback", nil)
	restart()
	n.Await(t, id, "running")
	n.Want(t, 200, "POST", "/api/claude/result", object{
		"requestId": id, "hmac": values["hmac"], "url": "media/image.svg", "aspect_ratio": "16:9", "message": "Here is your image.",
	})
	restart()
	n.Await(t, id, "received")
	var story []string
	for _, m := range n.Messages(t, "s1", "") {
		story = append(story, fmt.Sprint(m["sender"], " ", m["messageType"]))
	}
	want := []string{"user text", "assistant hitl_checkpoint", "user text", "assistant hitl_checkpoint", "user text", "assistant result"}
	must.Equal(t, want, story)
}

func TestSeveralJobsShareASession(t *testing.T) {
	t.Parallel()
	n := rig.Start(t, vars{"HOLD": "0s"})
	one, envelopeOne := n.Manual(t, object{"userId": "u1", "sessionId": "s1"})
	two, envelopeTwo := n.Manual(t, object{"userId": "u1", "sessionId": "s1", "kind": "meal-suggestions", "input": rig.MealInput()})
	n.Want(t, 200, "POST", "/api/claude/checkpoints", rig.With(envelopeOne, rig.RatioQuestion()))
	other := rig.RatioQuestion()
	other["message"] = "Once more: which ratio?"
	n.Want(t, 200, "POST", "/api/claude/checkpoints", rig.With(envelopeTwo, other))
	first := n.OpenCheckpoint(t, one, "awaiting_input")
	n.Want(t, 200, "POST", "/to-llm", object{
		"sessionId": "s1", "userId": "u1", "content": "16:9", "props": object{"checkpoint_message_id": first["messageId"]},
	})
	n.Await(t, one, "running")
	n.Say(t, "s1", "1:1")
	n.Await(t, two, "running")
	stats := n.Want(t, 200, "GET", "/api/stats", nil)["checkpoints"].(object)["error_recovery"].(object)
	if stats["opened"] != 2.0 || stats["answered"] != 2.0 || stats["answeredWhileHeld"] != 0.0 || stats["meanSecondsToAnswer"] == nil {
		t.Errorf("the statistics say %v", stats)
	}
}
