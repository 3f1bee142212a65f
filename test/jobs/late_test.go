package jobs

import (
	"strings"
	"testing"

	"ringback/test/must"
	"ringback/test/rig"

	"github.com/google/go-cmp/cmp"
)

// lateCalls returns valid payloads of every callback of ship.
func lateCalls() map[string]object {
	result := object{"message": "Late", "deployed": false}
	return map[string]object{
		"progress": {"message": "Still here"}, "suggestions": result, "result": result, "failure": {"error": "It did not work."},
		"checkpoints":                  {"type": "information_request", "message": "Which one?"},
		"actions/deployToShipperCloud": {"input": object{"projectName": "shop", "reason": "It is done"}},
		"tool-calls":                   {"tool_name": "Read", "tool_input": object{"file_path": "a"}, "tool_use_id": "t1", "cwd": "/"},
	}
}

func TestLateCallbacksGetTheSameWords(t *testing.T) {
	t.Parallel()
	n := rig.Start(t, vars{"CALLBACK_TIMEOUT": "2s", "HOLD": "0s"})
	for state, c := range map[string]struct {
		end  func(id string, envelope object)
		says string
	}{
		"received": {func(_ string, e object) {
			n.Want(t, 200, "POST", "/api/claude/result", rig.With(e, object{"message": "Done", "deployed": false}))
		}, "already accepted"},
		"cancelled": {func(id string, _ object) { n.Want(t, 200, "POST", "/api/jobs/"+id+"/cancel", nil) }, "was cancelled"},
		"failed": {func(_ string, e object) {
			n.Want(t, 200, "POST", "/api/claude/failure", rig.With(e, object{"error": "Something else."}))
		}, "has failed"},
		"expired": {func(string, object) {}, "deadline has passed"},
	} {
		id, envelope := n.Manual(t, object{"kind": "ship", "userId": "u1", "input": object{"prompt": "Ship it"}})
		c.end(id, envelope)
		n.Await(t, id, state)
		for endpoint, body := range lateCalls() {
			status, answer := n.Do(t, "POST", "/api/claude/"+endpoint, rig.With(envelope, body))
			if state == "received" && (endpoint == "result" || endpoint == "suggestions") {
				if status != 409 { // another result
					t.Errorf("%s, %s: %d %v", state, endpoint, status, answer)
				}
				continue
			}
			hint, _ := answer["hint"].(string)
			want := object{"error": "Unknown or expired request", "hint": hint}
			if endpoint == "progress" {
				want["error"] = "Unknown request"
			}
			if diff := cmp.Diff(want, answer); status != 404 || diff != "" || !strings.Contains(hint, c.says+".") {
				t.Errorf("%s, %s: %d %v", state, endpoint, status, answer)
			}
		}
	}
	log := n.Log.String()
	for _, want := range []string{"level=INFO msg=callback", `refused="Unknown or expired request"`, "endpoint=/api/claude/result status=200"} {
		must.Contain(t, log, want, "the log")
	}
}
