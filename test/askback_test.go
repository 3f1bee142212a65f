package test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ringback/test/must"
	"ringback/test/sample"
)

// A yes with a condition is not a yes: the user is asked again, and a yes to that approves
// exactly what was asked first.
func TestYesAfterAYesWithAConditionAllowsTheOriginal(t *testing.T) {
	t.Parallel()
	g := startGated(t, nil, "")
	input := object{"name": "shop"}
	g.call(input, false)
	g.n.say(t, "s1", "yes but only the replica")
	again := g.n.openCheckpoint(t, g.id, "awaiting_approval")
	want := "You wrote “yes but only the replica”: I can run exactly this, or not at all. Deploy \"shop\"? Yes, no, or tell Claude what to change?"
	must.Equal[any](t, want, again["message"], "asked back")
	if replies := again["props"].(object)["suggested_replies"]; !cmp.Equal(replies, []any{"Yes, Deploy", "No, Cancel", "Change it"}) {
		t.Errorf("offered %v", replies)
	}
	g.n.say(t, "s1", "hm")
	if m := g.n.openCheckpoint(t, g.id, "awaiting_approval")["message"].(string); strings.Contains(m, "replica") || strings.Count(m, "Deploy \"shop\"?") != 1 {
		t.Errorf("asked back a second time with %q", m)
	}
	g.n.say(t, "s1", "ja, aber nur das Replikat")
	if m := g.n.openCheckpoint(t, g.id, "awaiting_approval")["message"].(string); !strings.HasPrefix(m, "Sie schrieben „ja, aber nur das Replikat“") {
		t.Errorf("asked a German back %q", m)
	}
	g.say("yes")
	if status, _ := g.call(object{"name": "shop", "nested": object{"replica": true}}, true); status != "pending_confirmation" || ran(t, g.runs) != 0 {
		t.Errorf("another input than the one that was asked for is %s, and ran %d times", status, ran(t, g.runs))
	}
	g.say("no")
	g.call(input, false)
	g.say("yes")
	if status, _ := g.call(input, true); status != "success" || ran(t, g.runs) != 1 {
		t.Errorf("the original is %s, and ran %d times", status, ran(t, g.runs))
	}
}

func TestYesButBecomesAChange(t *testing.T) {
	t.Parallel()
	input, changed := object{"name": "shop"}, object{"name": "shop-replica"}
	for reply, reason := range map[string]string{
		"change it": "yes but only the replica", "Yes, change it!": "yes but only the replica", "only the replica in eu-west": "only the replica in eu-west",
		"change: use the replica": "use the replica", "oui, changez": "yes but only the replica",
	} {
		t.Run(reply, func(t *testing.T) {
			t.Parallel()
			g := startGated(t, vars{"HOLD": "30s"}, "")
			answers := g.ask(input, false)
			g.n.openCheckpoint(t, g.id, "awaiting_approval")
			g.n.say(t, "s1", "yes but only the replica")
			g.say(reply)
			answer := <-answers
			if answer["status"] != "denied" || answer["decision"] != "steer" || answer["reason"] != reason || !strings.Contains(answer["instruction"].(string), "again with the input changed") {
				t.Errorf("Claude was answered %v", answer)
			}
			// The old input is not approved, whatever Claude claims; the new one is asked
			// about.
			done := g.ask(input, true)
			g.n.openCheckpoint(t, g.id, "awaiting_approval")
			g.say("no")
			if answer := <-done; answer["status"] != "denied" || ran(t, g.runs) != 0 {
				t.Errorf("the input that was to be changed is %v, and ran %d times", answer["status"], ran(t, g.runs))
			}
			done = g.ask(changed, false)
			must.Equal(t, `Deploy "shop-replica"?`, g.n.openCheckpoint(t, g.id, "awaiting_approval")["message"], "for the changed input, the user was asked")
			g.say("yes")
			<-done
			if status, _ := g.call(changed, true); status != "success" || ran(t, g.runs) != 1 {
				t.Errorf("the changed input is %s, and ran %d times", status, ran(t, g.runs))
			}
			if log := strings.Join(g.n.audit(t, g.id), " "); !strings.HasPrefix(log, "asked unclear asked steer") {
				t.Errorf("the audit log says %s", log)
			}
		})
	}
}

// The last reply counts: a no revokes a yes that was not used yet.
func TestNoTakesBackAnUnusedYes(t *testing.T) {
	t.Parallel()
	for _, second := range []string{"no", "change: only the replica"} {
		t.Run(second, func(t *testing.T) {
			t.Parallel()
			g := startGated(t, nil, "")
			input := object{"name": "shop"}
			g.call(input, false)
			g.say("yes")
			g.call(object{"name": "another"}, false)
			g.say("no")
			g.call(input, false)
			g.n.openCheckpoint(t, g.id, "awaiting_approval")
			g.say(second)
			if status, _ := g.call(input, true); status != "denied" || ran(t, g.runs) != 0 {
				t.Errorf("after a later %q, the input is %s, and ran %d times", second, status, ran(t, g.runs))
			}
		})
	}
}

func TestToolCallIsChangedAtTheUsersWish(t *testing.T) {
	t.Parallel()
	file, exists := touched(t)
	n, api := realClaude(t, vars{"HOLD": "60s", "PROMPTS_DIR": carefulKind(t)}, playCommands("touch "+file))
	id := n.create(t, object{"kind": "careful", "input": object{}, "userId": "u1", "sessionId": "s1"})
	n.openCheckpoint(t, id, "awaiting_approval")
	n.say(t, "s1", "yes but use the other folder")
	n.say(t, "s1", "change it")
	n.await(t, id, "received")
	requests := api.Requests()
	told := mustJSON(requests[len(requests)-1].Messages)
	if !strings.Contains(told, "They want something else") || !strings.Contains(told, "yes but use the other folder") {
		t.Errorf("Claude was told %s", told)
	}
	if exists() {
		t.Error("the call ran though the user wanted another one")
	}
}

// A review is asked about again in one sentence: its summary is not repeated, and Slack is
// not notified.
func TestReviewIsAskedBackInOneSentence(t *testing.T) {
	t.Parallel()
	sample.OneIn(t, 3)
	posts := make(chan object, 100)
	channel := startHTTP(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var post object
		if err := json.NewDecoder(r.Body).Decode(&post); err != nil {
			t.Error(err)
		}
		posts <- post
	}))
	n, _ := realClaude(t, vars{"SLACK_WEBHOOK_URL": channel + "/services/planted"}, playChanges(
		writes("service/one.go", "package service\n"), writes("service/two.go", "package service\n"),
	))
	id := n.create(t, object{"kind": "code-change", "userId": "u1", "sessionId": "s1", "input": object{"prompt": "x", "repos": []any{object{"url": goRepository(t, "service")}}}})
	n.openCheckpoint(t, id, "awaiting_approval")
	must.Contain(t, next(t, posts)["text"].(string), "Claude completed "+id, "the channel was told")
	n.say(t, "s1", "looks good, but add the second file")
	again := n.openCheckpoint(t, id, "awaiting_approval")["message"].(string)
	if !strings.HasPrefix(again, "You wrote “looks good, but add the second file”:") || strings.Contains(again, "one.go") || strings.Contains(again, "Claude completed") {
		t.Errorf("asked back %q", again)
	}
	n.say(t, "s1", "yes, change it")
	must.Contain(t, next(t, posts)["text"].(string), "Steering iteration 1 complete for "+id, "next, the channel was told")
	history := n.want(t, 200, "GET", "/api/jobs/"+id+"/steering", nil)["history"].([]any)
	must.Equal(t, "looks good, but add the second file", history[0].(object)["prompt"], "the change was steered with")
	n.openCheckpoint(t, id, "awaiting_approval")
	n.say(t, "s1", "yes")
	n.await(t, id, "received")
}
