package test

import (
	"strings"
	"testing"

	"ringback/test/harness"
	"ringback/test/must"
)

// What a new user without a Claude CLI sees of the flows with people.
func TestSimulatedClaudeAsksAndDeploys(t *testing.T) {
	t.Parallel()
	n := startNode(t, vars{"HOLD": "0s"})
	media := n.create(t, object{"kind": "media", "userId": "u1", "sessionId": "media", "input": object{
		"prompt": "a lake", "media_type": "video", "aspect_ratio": "5:3",
	}})
	first := n.openCheckpoint(t, media, "awaiting_input")
	if first["type"] != "error_recovery" || !strings.Contains(first["message"].(string), "Available options are: 1:1, 16:9") {
		t.Errorf("the user was asked %v", first)
	}
	n.say(t, "media", "2")
	var second object
	eventually(t, "the second question", func() bool {
		second, _ = n.want(t, 200, "GET", "/api/jobs/"+media, nil)["checkpoint"].(object)
		return second != nil && second["id"] != first["id"]
	})
	must.Equal(t, "information_request", second["type"], "the user was asked", second)
	n.say(t, "media", "audio_file: speech.mp3")
	if result := n.await(t, media, "received")["result"].(object); result["aspect_ratio"] != "16:9" || result["width"] != 1280.0 {
		t.Errorf("the result is %v", result)
	}

	for reply, deployed := range map[string]bool{"Yes, Deploy": true, "no, not today": false} {
		ship := n.create(t, object{"kind": "ship", "userId": "u1", "sessionId": "ship " + reply, "input": object{"prompt": "Ship it", "projectName": "shop"}})
		n.openCheckpoint(t, ship, "awaiting_approval")
		n.say(t, "ship "+reply, reply)
		if result := n.await(t, ship, "received")["result"].(object); result["deployed"] != deployed {
			t.Errorf("after %q, the result is %v", reply, result)
		}
	}
}

func TestSimulatedClaudeIsSteered(t *testing.T) {
	t.Parallel()
	remote := goRepository(t, "service")
	n := startNode(t, nil)
	id := n.create(t, object{"kind": "code-change", "userId": "u1", "input": object{
		"prompt": "Say hello", "repos": []any{object{"url": remote}}, "verifiers": []any{object{"name": "count", "command": "wc -l SIMULATED.md"}},
	}})
	first := n.openCheckpoint(t, id, "awaiting_approval")["id"]
	n.want(t, 200, "POST", "/api/jobs/"+id+"/steer", object{"prompt": "Say goodbye too"})
	eventually(t, "the second round", func() bool {
		c, _ := n.want(t, 200, "GET", "/api/jobs/"+id, nil)["checkpoint"].(object)
		return c != nil && c["id"] != first
	})
	if logs := list(t, n, "/api/jobs/"+id+"/logs"); logs[0]["verifier"] != "service:count" || !strings.HasPrefix(logs[0]["stdout"].(string), "2 ") {
		t.Errorf("the logs are %v", logs)
	}
	n.approve(t, id)
	n.await(t, id, "received")
	must.Equal(t, "- Say hello\n- Say goodbye too\n", harness.Git(t, remote, "show", "ringback/"+id+":SIMULATED.md"), "pushed")
}

func TestSilenceRunsIntoTheTimeout(t *testing.T) {
	t.Parallel()
	n := startNode(t, vars{"CALLBACK_TIMEOUT": "1s"})
	id := n.create(t, object{"userId": "u1", "options": object{"simulate": "silence"}})
	record := n.await(t, id, "expired")
	if record["errorCode"] != "callback_timeout" || record["turn"] != 1.0 {
		t.Errorf("ended as %v after turn %v", record["errorCode"], record["turn"])
	}
}
