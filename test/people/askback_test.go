package people

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ringback/test/must"
	"ringback/test/rig"
	"ringback/test/sample"
)

// A yes with a condition is not a yes: the user is asked again, and a yes to that approves
// exactly what was asked first.
func TestYesAfterAYesWithAConditionAllowsTheOriginal(t *testing.T) {
	t.Parallel()
	g := startGated(t, nil, "")
	input := object{"name": "shop"}
	g.Call(input, false)
	g.N.Say(t, "s1", "yes but only the replica")
	again := g.N.OpenCheckpoint(t, g.ID, "awaiting_approval")
	want := "You wrote “yes but only the replica”: I can run exactly this, or not at all. Deploy \"shop\"? Yes, no, or tell Claude what to change?"
	must.Equal[any](t, want, again["message"], "asked back")
	if replies := again["props"].(object)["suggested_replies"]; !cmp.Equal(replies, []any{"Yes, Deploy", "No, Cancel", "Change it"}) {
		t.Errorf("offered %v", replies)
	}
	g.N.Say(t, "s1", "hm")
	if m := g.N.OpenCheckpoint(t, g.ID, "awaiting_approval")["message"].(string); strings.Contains(m, "replica") || strings.Count(m, "Deploy \"shop\"?") != 1 {
		t.Errorf("asked back a second time with %q", m)
	}
	g.N.Say(t, "s1", "ja, aber nur das Replikat")
	if m := g.N.OpenCheckpoint(t, g.ID, "awaiting_approval")["message"].(string); !strings.HasPrefix(m, "Sie schrieben „ja, aber nur das Replikat“") {
		t.Errorf("asked a German back %q", m)
	}
	g.Say("yes")
	if status, _ := g.Call(object{"name": "shop", "nested": object{"replica": true}}, true); status != "pending_confirmation" || rig.Ran(t, g.Runs) != 0 {
		t.Errorf("another input than the one that was asked for is %s, and ran %d times", status, rig.Ran(t, g.Runs))
	}
	g.Say("no")
	g.Call(input, false)
	g.Say("yes")
	if status, _ := g.Call(input, true); status != "success" || rig.Ran(t, g.Runs) != 1 {
		t.Errorf("the original is %s, and ran %d times", status, rig.Ran(t, g.Runs))
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
			answers := g.Ask(input, false)
			g.N.OpenCheckpoint(t, g.ID, "awaiting_approval")
			g.N.Say(t, "s1", "yes but only the replica")
			g.Say(reply)
			answer := <-answers
			if answer["status"] != "denied" || answer["decision"] != "steer" || answer["reason"] != reason || !strings.Contains(answer["instruction"].(string), "again with the input changed") {
				t.Errorf("Claude was answered %v", answer)
			}
			// The old input is not approved, whatever Claude claims; the new one is asked
			// about.
			done := g.Ask(input, true)
			g.N.OpenCheckpoint(t, g.ID, "awaiting_approval")
			g.Say("no")
			if answer := <-done; answer["status"] != "denied" || rig.Ran(t, g.Runs) != 0 {
				t.Errorf("the input that was to be changed is %v, and ran %d times", answer["status"], rig.Ran(t, g.Runs))
			}
			done = g.Ask(changed, false)
			must.Equal(t, `Deploy "shop-replica"?`, g.N.OpenCheckpoint(t, g.ID, "awaiting_approval")["message"], "for the changed input, the user was asked")
			g.Say("yes")
			<-done
			if status, _ := g.Call(changed, true); status != "success" || rig.Ran(t, g.Runs) != 1 {
				t.Errorf("the changed input is %s, and ran %d times", status, rig.Ran(t, g.Runs))
			}
			if log := strings.Join(g.N.Audit(t, g.ID), " "); !strings.HasPrefix(log, "asked unclear asked steer") {
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
			g.Call(input, false)
			g.Say("yes")
			g.Call(object{"name": "another"}, false)
			g.Say("no")
			g.Call(input, false)
			g.N.OpenCheckpoint(t, g.ID, "awaiting_approval")
			g.Say(second)
			if status, _ := g.Call(input, true); status != "denied" || rig.Ran(t, g.Runs) != 0 {
				t.Errorf("after a later %q, the input is %s, and ran %d times", second, status, rig.Ran(t, g.Runs))
			}
		})
	}
}

func TestToolCallIsChangedAtTheUsersWish(t *testing.T) {
	t.Parallel()
	file, exists := rig.Touched(t)
	n, api := rig.RealClaude(t, vars{"HOLD": "60s", "PROMPTS_DIR": rig.CarefulKind(t)}, rig.PlayCommands("touch "+file))
	id := n.Create(t, object{"kind": "careful", "input": object{}, "userId": "u1", "sessionId": "s1"})
	n.OpenCheckpoint(t, id, "awaiting_approval")
	n.Say(t, "s1", "yes but use the other folder")
	n.Say(t, "s1", "change it")
	n.Await(t, id, "received")
	requests := api.Requests()
	told := rig.JSON(requests[len(requests)-1].Messages)
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
	channel := rig.StartHTTP(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var post object
		if err := json.NewDecoder(r.Body).Decode(&post); err != nil {
			t.Error(err)
		}
		posts <- post
	}))
	n, _ := rig.RealClaude(t, vars{"SLACK_WEBHOOK_URL": channel + "/services/planted"}, rig.PlayChanges(
		rig.Writes("service/one.go", "package service\n"), rig.Writes("service/two.go", "package service\n"),
	))
	id := n.Create(t, object{"kind": "code-change", "userId": "u1", "sessionId": "s1", "input": object{"prompt": "x", "repos": []any{object{"url": rig.GoRepository(t, "service")}}}})
	n.OpenCheckpoint(t, id, "awaiting_approval")
	must.Contain(t, rig.Next(t, posts)["text"].(string), "Claude completed "+id, "the channel was told")
	n.Say(t, "s1", "looks good, but add the second file")
	again := n.OpenCheckpoint(t, id, "awaiting_approval")["message"].(string)
	if !strings.HasPrefix(again, "You wrote “looks good, but add the second file”:") || strings.Contains(again, "one.go") || strings.Contains(again, "Claude completed") {
		t.Errorf("asked back %q", again)
	}
	n.Say(t, "s1", "yes, change it")
	must.Contain(t, rig.Next(t, posts)["text"].(string), "Steering iteration 1 complete for "+id, "next, the channel was told")
	history := n.Want(t, 200, "GET", "/api/jobs/"+id+"/steering", nil)["history"].([]any)
	must.Equal(t, "looks good, but add the second file", history[0].(object)["prompt"], "the change was steered with")
	n.OpenCheckpoint(t, id, "awaiting_approval")
	n.Say(t, "s1", "yes")
	n.Await(t, id, "received")
}
