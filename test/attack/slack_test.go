package attack

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"ringback/test/harness"
)

const slackSecret = "the signing secret of an app"

// slackRequest returns a slash command as Slack would send it.
func slackRequest(text string) harness.Request {
	body := url.Values{"text": {text}, "user_id": {"U1"}, "user_name": {"ana"}, "team_id": {"T1"}}.Encode()
	stamp := strconv.FormatInt(time.Now().Unix(), 10)
	mac := hmac.New(sha256.New, []byte(slackSecret))
	mac.Write([]byte("v0:" + stamp + ":" + body))
	return harness.Request{Method: "POST", Path: "/api/slack/commands", Body: body, Header: map[string]string{
		"Content-Type": "application/x-www-form-urlencoded", "X-Slack-Request-Timestamp": stamp, "X-Slack-Signature": "v0=" + hex.EncodeToString(mac.Sum(nil)),
	}}
}

// An approval in Slack approves the question that it names. One without a name, for an
// earlier question, or sent again approves nothing.
func TestApprovalsInSlackAllowWhatTheyName(t *testing.T) {
	t.Parallel()
	s := harness.Start(t, harness.Vars{"HOLD": "0s", "SLACK_SIGNING_SECRET": slackSecret}, nil)
	ship := harness.Object{"kind": "ship", "userId": "u1", "input": harness.Object{"prompt": "Ship it"}}
	id, envelope := s.Manual(t, nil, ship)
	other, otherEnvelope := s.Manual(t, nil, ship)
	ask := func(id string, envelope harness.Object, version string) string {
		t.Helper()
		body := harness.Object{"requestId": id, "hmac": envelope["hmac"], "input": harness.Object{"projectName": "web-" + version, "reason": "It is ready"}}
		if answer := s.Want(t, 200, harness.Request{Method: "POST", Path: "/api/claude/actions/deployToShipperCloud", Body: body}); answer["status"] != "pending_confirmation" {
			t.Fatalf("asking was answered %v", answer)
		}
		checkpoint, _ := s.Want(t, 200, harness.Request{Method: "GET", Path: "/api/jobs/" + id})["checkpoint"].(harness.Object)
		return fmt.Sprint(checkpoint["id"])
	}
	first, foreign := ask(id, envelope, "1.0.0"), ask(other, otherEnvelope, "9.9.9")
	approved := slackRequest("approve " + first)
	if _, answer := harness.Send(t, s.URL, approved); answer["response_type"] != "in_channel" {
		t.Fatalf("an approval was answered %v", answer)
	}
	harness.Eventually(t, "the next turn", func() bool {
		return s.Want(t, 200, harness.Request{Method: "GET", Path: "/api/jobs/" + id})["status"] == "running"
	})
	envelope["hmac"] = s.Want(t, 200, harness.Request{Method: "GET", Path: "/api/jobs/" + id + "/callback"})["hmac"]
	second := ask(id, envelope, "2.0.0")
	if second == first {
		t.Fatal("another input is the same question")
	}
	attempts := []harness.Request{approved}
	for _, text := range []string{
		"approve", "Approve", "APPROVE ", " `approve` ", "approve " + id, "approve " + id + " 0", "approve " + id + " 1", "approve " + first, "approve " + first + " ", "approve " + strings.ToUpper(second),
		"approve " + second[:len(second)-1], "approve " + second + "x", "approve " + second + " " + second, "approve " + id + " " + second, "approve " + second + " 0", "approve 0", "approve 2.0.0", "approve yes", "yes", "ok " + second, "approve\n" + second + "\nfoo",
		"“approve” " + id, "approve all", "approve *", "approve " + strings.Replace(second, "chk", "req", 1), "approve " + strings.Replace(id, "req", "chk", 1),
	} {
		attempts = append(attempts, slackRequest(text))
	}
	for _, attempt := range attempts {
		if _, answer := harness.Send(t, s.URL, attempt); answer["response_type"] != "ephemeral" {
			t.Errorf("%s was answered %v", attempt.Body, answer)
		}
	}
	for _, asked := range []string{second, foreign} {
		if status := s.Want(t, 200, harness.Request{Method: "GET", Path: "/api/checkpoints/" + asked})["status"]; status != "open" {
			t.Errorf("%s is %v", asked, status)
		}
	}
	if _, answer := harness.Send(t, s.URL, slackRequest("approve "+second)); answer["response_type"] != "in_channel" {
		t.Errorf("an approval of what is asked was answered %v", answer)
	}

	// The question from before a job was cancelled is not the one after its retry.
	s.Want(t, 200, harness.Request{Method: "POST", Path: "/api/jobs/" + other + "/cancel"})
	s.Want(t, 200, harness.Request{Method: "POST", Path: "/api/jobs/" + other + "/retry"})
	harness.Eventually(t, "the retry to run", func() bool {
		return s.Want(t, 200, harness.Request{Method: "GET", Path: "/api/jobs/" + other})["status"] == "running"
	})
	third := ask(other, s.Want(t, 200, harness.Request{Method: "GET", Path: "/api/jobs/" + other + "/callback"}), "9.9.9")
	for _, text := range []string{"approve " + foreign, "approve " + other, "approve " + other + " 0", "approve " + other + " 1", "approve " + other + " 2", "approve", "approve " + foreign + " " + third, "reject " + foreign} {
		if _, answer := harness.Send(t, s.URL, slackRequest(text)); answer["response_type"] != "ephemeral" {
			t.Errorf("after a retry, %s was answered %v", text, answer)
		}
	}
	if status := s.Want(t, 200, harness.Request{Method: "GET", Path: "/api/checkpoints/" + third})["status"]; status != "open" {
		t.Errorf("the retry's question is %v", status)
	}
	if _, answer := harness.Send(t, s.URL, slackRequest("approve "+third)); answer["response_type"] != "in_channel" {
		t.Errorf("an approval of what the retry asks was answered %v", answer)
	}
}

// A command in Slack is for the job or the question that it names, however that is written, or for none:
// never for another one that happens to wait alone.
func TestCommandsInSlackFallOnNoOtherJob(t *testing.T) {
	t.Parallel()
	s := harness.Start(t, harness.Vars{"HOLD": "0s", "SLACK_SIGNING_SECRET": slackSecret}, nil)
	ship := harness.Object{"kind": "ship", "userId": "u1", "input": harness.Object{"prompt": "Ship it"}}
	working, _ := s.Manual(t, nil, ship)
	gone := working[:7] + strings.Repeat("z", 26)
	waiting, envelope := s.Manual(t, nil, ship)
	s.Want(t, 200, harness.Request{Method: "POST", Path: "/api/claude/actions/deployToShipperCloud", Body: harness.Object{
		"requestId": waiting, "hmac": envelope["hmac"], "input": harness.Object{"projectName": "web", "reason": "It is ready"},
	}})
	short := func(id string) string { return id[len("req_00_") : len("req_00_")+8] }
	for _, target := range []string{
		"", "not", working, working + ",", "`" + working + "`:", "\n" + working + "\n", short(working), "req_" + short(working), working[:20], strings.ToUpper(working),
		"<" + s.URL + "/jobs/" + working + "|this>", working[:len(working)-1] + "x", gone, short(gone), "chk" + working[3:], waiting + "a", waiting + ",because", strings.Replace(waiting, "_", "-", 1),
	} {
		for _, verb := range []string{"reject", "approve", "steer", "status now", "cancel now"} {
			verb, rest, _ := strings.Cut(verb, " ")
			_, answer := harness.Send(t, s.URL, slackRequest(verb+" "+target+" this way "+rest))
			steered := verb == "steer" && strings.Contains(fmt.Sprint(answer["text"]), working)
			if answer["response_type"] != "ephemeral" && !steered {
				t.Errorf("%s %q was answered %v", verb, target, answer)
			}
		}
	}
	record := s.Want(t, 200, harness.Request{Method: "GET", Path: "/api/jobs/" + waiting})
	if status := record["status"]; status != "awaiting_approval" {
		t.Fatalf("the job that waits is %v", status)
	}
	if status := s.Want(t, 200, harness.Request{Method: "GET", Path: "/api/jobs/" + working})["status"]; status != "running" {
		t.Errorf("the job at work is %v", status)
	}
	checkpoint, _ := record["checkpoint"].(harness.Object)
	for _, text := range []string{"status " + short(waiting), "reject " + fmt.Sprint(checkpoint["id"]) + ": not this way", "cancel " + short(working) + "."} {
		if _, answer := harness.Send(t, s.URL, slackRequest(text)); answer["response_type"] != "in_channel" {
			t.Errorf("%s was answered %v", text, answer)
		}
	}
}
