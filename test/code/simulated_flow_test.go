package code

import (
	"strings"
	"testing"

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
