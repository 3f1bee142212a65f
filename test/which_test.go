package test

import (
	"strings"
	"testing"

	"ringback/test/must"
)

// twoGates starts two jobs of one chat that each ask for a deployment, the first of "one",
// the second of "two".
func twoGates(t *testing.T) (g *gated, second string) {
	t.Helper()
	g = startGated(t, nil, "")
	g.call(object{"name": "one"}, false)
	g.n.openCheckpoint(t, g.id, "awaiting_approval")
	other := *g
	other.id, other.envelope = g.another()
	other.call(object{"name": "two"}, false)
	g.n.openCheckpoint(t, other.id, "awaiting_approval")
	return g, other.id
}

// decisions returns the outcomes of two jobs' questions.
func (n *node) decisions(t *testing.T, ids ...string) string {
	t.Helper()
	var all []string
	for _, id := range ids {
		log := n.audit(t, id)
		all = append(all, log[len(log)-1])
	}
	return strings.Join(all, " ")
}

func TestWithTwoDecisionsOpenABareYesIsAskedBack(t *testing.T) {
	t.Parallel()
	for _, reply := range []string{"yes", "no", "ja bitte", "👍", "Yes, Deploy", "yes but only the replica", "both", "yes to both", "1: yes", "1", "deploy", "hm", "change: the replica"} {
		t.Run(reply, func(t *testing.T) {
			t.Parallel()
			g, second := twoGates(t)
			g.n.say(t, "s1", reply)
			if got := g.n.decisions(t, g.id, second); got != "asked asked" {
				t.Fatalf("%q decided: %s", reply, got)
			}
			all := g.n.messages(t, "s1", "")
			asked := all[len(all)-1]
			want := "2 questions are open here. Which one is “" + reply + "” about?\n1. Deploy: Deploy 'one'?\n2. Deploy: Deploy 'two'?\nAnswer one at a time, with its number: \"1: yes\"."
			if asked["sender"] != "assistant" || asked["content"] != want {
				t.Errorf("asked back %q, want %q", asked["content"], want)
			}
		})
	}
}

func TestOneOfTwoDecisionsIsNamed(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		replies []string
		want    string
	}{
		"by a number":             {[]string{"yes", "1"}, "approve asked"},
		"by another":              {[]string{"yes", "2"}, "asked approve"},
		"in one message":          {[]string{"hm", "1: yes"}, "approve asked"},
		"with a no":               {[]string{"hm", "2: no"}, "asked deny"},
		"in its own words":        {[]string{`Yes, please proceed with deploying "two".`}, "asked approve"},
		"both, one after another": {[]string{"yes", "1", "no"}, "approve deny"},
		"in other words":          {[]string{"yes", "the second one", "yes to 2"}, "asked asked"},
		"both at once":            {[]string{"yes", "both"}, "asked asked"},
		"a number of no list":     {[]string{"yes", "3"}, "asked asked"},
		"a list that is over":     {[]string{"yes", "hm", "yes", "what?", "1"}, "asked asked"},
		"a yes with a condition":  {[]string{"yes", "1: yes but only the replica"}, "asked asked"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g, second := twoGates(t)
			for _, reply := range c.replies {
				g.n.say(t, "s1", reply)
			}
			must.Equal(t, c.want, g.n.decisions(t, g.id, second), c.replies, "decided")
			all := g.n.messages(t, "s1", "")
			var written []string
			for _, m := range all {
				if m["sender"] == "user" {
					written = append(written, m["content"].(string))
				}
			}
			written = written[2:] // without the jobs' requests
			must.Equal(t, strings.Join(c.replies, "|"), strings.Join(written, "|"), "the chat says")
		})
	}
}

// A question for a value and a decision: a yes that could answer both leads to a question.
func TestYesThatMayAnswerAFormOrADecision(t *testing.T) {
	t.Parallel()
	g := startGated(t, nil, "")
	g.n.want(t, 200, "POST", "/from-llm", object{
		"sessionId": "s1", "userId": "u1", "content": "With captions?", "messageType": "hitl_checkpoint",
		"props": object{"checkpoint_type": "information_request", "schema": object{"type": "object", "required": []any{"captions"}, "properties": object{"captions": object{"type": "boolean"}}}},
	})
	g.call(object{"name": "one"}, false)
	g.n.openCheckpoint(t, g.id, "awaiting_approval")
	g.n.say(t, "s1", "yes")
	must.Equal(t, "asked", g.n.decisions(t, g.id), "a yes that may be about the captions decided")
	g.say("2")
	must.Equal(t, "approve", g.n.decisions(t, g.id), "the named one")
}

// A title does not name a decision, because its asker chooses it.
func TestATitleDecidesNothing(t *testing.T) {
	t.Parallel()
	for _, reply := range []string{"yes, publish the page", "Remove the backups: no", "publish the page", "yes to publish the page and remove the backups"} {
		t.Run(reply, func(t *testing.T) {
			t.Parallel()
			n := startNode(t, nil)
			for _, title := range []string{"Remove the backups?", "Publish the page?"} {
				n.want(t, 200, "POST", "/from-llm", object{
					"sessionId": "s1", "userId": "u1", "content": "May I?", "messageType": "hitl_checkpoint", "props": object{"checkpoint_type": "confirmation", "title": title},
				})
			}
			n.say(t, "s1", reply)
			if open := n.want(t, 200, "GET", "/api/checkpoints?userId=u1&status=open", nil)["checkpoints"].([]any); len(open) != 2 {
				t.Errorf("after %q, open are %v", reply, open)
			}
		})
	}
}

// An author of chat messages cannot redefine what a number stands for.
func TestOnlyTheServersOwnListGivesNumbersAMeaning(t *testing.T) {
	t.Parallel()
	g := startGated(t, nil, "")
	g.call(object{"name": "one"}, false)
	gate := g.n.openCheckpoint(t, g.id, "awaiting_approval")
	trap := object{"which": object{"checkpoints": []any{gate["id"]}, "text": "yes"}, "checkpoint_type": "information_request"}
	g.n.want(t, 200, "POST", "/from-llm", object{
		"sessionId": "s1", "userId": "u1", "content": "How many? 1, 2 or 3?", "messageType": "hitl_checkpoint", "props": trap,
	})
	g.n.say(t, "s1", "1")
	if status, answer := g.n.do(t, "POST", "/from-llm", object{"sessionId": "s1", "userId": "u1", "content": "How many?", "messageType": "which", "props": trap}); status != 400 {
		t.Errorf("a forged list was answered %d %v", status, answer)
	}
	g.n.say(t, "s1", "1")
	if got := g.n.decisions(t, g.id); got != "asked" && got != "unclear asked" {
		t.Errorf("a number decided: %s", got)
	}
}
