package code

import (
	"strings"
	"testing"

	"ringback/test/harness"
	"ringback/test/must"
	"ringback/test/rig"
)

// What a new user without a Claude CLI sees of the flows with people.
func TestSimulatedClaudeAsksAndDeploys(t *testing.T) {
	t.Parallel()
	n := rig.Start(t, vars{"HOLD": "0s"})
	media := n.Create(t, object{"kind": "media", "userId": "u1", "sessionId": "media", "input": object{
		"prompt": "a lake", "media_type": "video", "aspect_ratio": "5:3",
	}})
	first := n.OpenCheckpoint(t, media, "awaiting_input")
	if first["type"] != "error_recovery" || !strings.Contains(first["message"].(string), "Available options are: 1:1, 16:9") {
		t.Errorf("the user was asked %v", first)
	}
	n.Say(t, "media", "2")
	var second object
	must.Eventually(t, "the second question", func() bool {
		second, _ = n.Want(t, 200, "GET", "/api/jobs/"+media, nil)["checkpoint"].(object)
		return second != nil && second["id"] != first["id"]
	})
	must.Equal(t, "information_request", second["type"], "the user was asked", second)
	n.Say(t, "media", "audio_file: speech.mp3")
	if result := n.Await(t, media, "received")["result"].(object); result["aspect_ratio"] != "16:9" || result["width"] != 1280.0 {
		t.Errorf("the result is %v", result)
	}

	for reply, deployed := range map[string]bool{"Yes, Deploy": true, "no, not today": false} {
		ship := n.Create(t, object{"kind": "ship", "userId": "u1", "sessionId": "ship " + reply, "input": object{"prompt": "Ship it", "projectName": "shop"}})
		n.OpenCheckpoint(t, ship, "awaiting_approval")
		n.Say(t, "ship "+reply, reply)
		if result := n.Await(t, ship, "received")["result"].(object); result["deployed"] != deployed {
			t.Errorf("after %q, the result is %v", reply, result)
		}
	}
}

func TestSimulatedClaudeIsSteered(t *testing.T) {
	t.Parallel()
	remote := rig.GoRepository(t, "service")
	n := rig.Start(t, nil)
	id := n.Create(t, object{"kind": "code-change", "userId": "u1", "input": object{
		"prompt": "Say hello", "repos": []any{object{"url": remote}}, "verifiers": []any{object{"name": "count", "command": "wc -l SIMULATED.md"}},
	}})
	first := n.OpenCheckpoint(t, id, "awaiting_approval")["id"]
	n.Want(t, 200, "POST", "/api/jobs/"+id+"/steer", object{"prompt": "Say goodbye too"})
	must.Eventually(t, "the second round", func() bool {
		c, _ := n.Want(t, 200, "GET", "/api/jobs/"+id, nil)["checkpoint"].(object)
		return c != nil && c["id"] != first
	})
	if logs := list(t, n, "/api/jobs/"+id+"/logs"); logs[0]["verifier"] != "service:count" || !strings.HasPrefix(logs[0]["stdout"].(string), "2 ") {
		t.Errorf("the logs are %v", logs)
	}
	n.Approve(t, id)
	n.Await(t, id, "received")
	must.Equal(t, "- Say hello\n- Say goodbye too\n", harness.Git(t, remote, "show", "ringback/"+id+":SIMULATED.md"), "pushed")
}

func TestSilenceRunsIntoTheTimeout(t *testing.T) {
	t.Parallel()
	n := rig.Start(t, vars{"CALLBACK_TIMEOUT": "1s"})
	id := n.Create(t, object{"userId": "u1", "options": object{"simulate": "silence"}})
	record := n.Await(t, id, "expired")
	if record["errorCode"] != "callback_timeout" || record["turn"] != 1.0 {
		t.Errorf("ended as %v after turn %v", record["errorCode"], record["turn"])
	}
}
