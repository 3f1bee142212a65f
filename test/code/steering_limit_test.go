package code

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"ringback/test/must"
	"ringback/test/rig"
)

// Over the steering limit, a person is told so wherever they write, and what can be done instead; the
// change can still be decided on.
func TestOverTheLimitOfSteering(t *testing.T) {
	t.Parallel()
	gate := filepath.Join(t.TempDir(), "gate")
	rig.OpenGate(t, gate)
	env := gatedChange(t, gate)
	const secret = "the signing secret of an app"
	env["SLACK_SIGNING_SECRET"] = secret
	n := rig.Start(t, env)
	remote := rig.GoRepository(t, "service")
	steeredOnce := func(t *testing.T, session string) string {
		t.Helper()
		id := n.Create(t, object{"kind": "gated", "userId": "u1", "sessionId": session, "input": object{
			"prompt": "begin", "max_steering_iterations": 1, "repos": []any{object{"url": remote}},
		}})
		n.OpenCheckpoint(t, id, "awaiting_approval")
		n.Want(t, 200, "POST", "/api/jobs/"+id+"/steer", object{"prompt": "once"})
		n.OpenCheckpoint(t, id, "awaiting_approval")
		return id
	}
	says := func(t *testing.T, what string) {
		t.Helper()
		must.Contain(t, what, "steered 1 times, which is the limit")
		must.Contain(t, what, "Approve or reject it as it is")
	}
	for name, steer := range map[string]func(t *testing.T, id, session string) string{
		"chat": func(t *testing.T, _, session string) string {
			n.Say(t, session, "steer: once more")
			messages := n.Want(t, 200, "GET", "/api/sessions/"+session+"/messages?userId=u1", nil)["messages"].([]any)
			last := messages[len(messages)-1].(object)
			must.Equal(t, "assistant", last["role"], "the last message is", last)
			return last["content"].(string)
		},
		"Slack": func(t *testing.T, id, _ string) string {
			return typeInSlack(t, n, secret, "steer "+id+" once more")["text"].(string)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			session := "s" + strings.ReplaceAll(name, " ", "-")
			id := steeredOnce(t, session)
			says(t, steer(t, id, session))
			n.OpenCheckpoint(t, id, "awaiting_approval")
			n.Say(t, session, "approve")
			n.Await(t, id, "received")
		})
	}
}

// typeInSlack sends a slash command as Slack would, and returns the response.
func typeInSlack(t *testing.T, n *rig.Node, secret, text string) object {
	t.Helper()
	body := url.Values{"text": {text}, "user_id": {"U1"}, "user_name": {"ana"}, "team_id": {"T1"}}.Encode()
	stamp := strconv.FormatInt(time.Now().Unix(), 10)
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte("v0:" + stamp + ":" + body))
	_, answer := n.Do(t, "POST", "/api/slack/commands", body, "Content-Type", "application/x-www-form-urlencoded",
		"X-Slack-Request-Timestamp", stamp, "X-Slack-Signature", "v0="+hex.EncodeToString(mac.Sum(nil)))
	return answer
}

// The audit log contains the prompt of each round, even if it arrived while a turn ran, and
// why a change was rejected.
func TestAuditTellsPromptsAndReasons(t *testing.T) {
	t.Parallel()
	gate := filepath.Join(t.TempDir(), "gate")
	n := rig.Start(t, gatedChange(t, gate))
	id := n.Create(t, object{"kind": "gated", "userId": "u1", "input": object{"prompt": "begin", "repos": []any{object{"url": rig.GoRepository(t, "service")}}}})
	must.Eventually(t, "the verifier to run", func() bool { return exists(gate + ".reached") })
	n.Want(t, 200, "POST", "/api/jobs/"+id+"/steer", object{"prompt": `queued "one"`})
	rig.OpenGate(t, gate)
	must.Eventually(t, "the queued round", func() bool { prompts, _ := steered(t, n, id); return len(prompts) == 1 })
	n.OpenCheckpoint(t, id, "awaiting_approval")
	n.Want(t, 200, "POST", "/api/jobs/"+id+"/steer", object{"prompt": "direct\none"})
	n.OpenCheckpoint(t, id, "awaiting_approval")
	n.Want(t, 200, "POST", "/api/jobs/"+id+"/reject", object{"reason": "not now"})
	var got []string
	for _, line := range n.AuditEntries(t, id) {
		if by, ok := line["by"].(object); ok && by["via"] == "api" {
			got = append(got, line["event"].(string)+": "+line["detail"].(string))
		}
	}
	must.Equal(t, rig.JSON([]string{`steer: queued "one"`, "steer: direct\none", "deny: not now"}), rig.JSON(got), "the audit log says", got)
}
