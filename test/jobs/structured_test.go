package jobs

import (
	"strings"
	"testing"

	"ringback/test/must"
	"ringback/test/rig"
)

func TestKindsThatNeedCallbacksAreRefusedWithoutThem(t *testing.T) {
	t.Parallel()
	prompts := rig.OwnKind(t, "careful", "---\ntools: {ask: [Bash]}\n---\nBe careful.", "")
	prompts["USE_CALLBACK_CLAUDE"] = "false"
	n := rig.Start(t, prompts)
	for kind, needs := range map[string]string{"ship": "actions", "media": "actions", "code-change": "workspace", "careful": "tools"} {
		input := object{"prompt": "Ship it", "projectName": "shop"}
		switch kind {
		case "careful":
			input = object{}
		case "media":
			input = object{"prompt": "a lake"}
		case "code-change":
			input = object{"prompt": "Go", "repos": []object{{"url": "https://git.example/a.git"}}}
		}
		refused := n.Want(t, 409, "POST", "/api/jobs", object{"kind": kind, "userId": "u1", "input": input})
		if said := refused["error"].(string); !strings.Contains(said, needs) || !strings.Contains(refused["hint"].(string), "USE_CALLBACK_CLAUDE=true") {
			t.Errorf("%s: says %v", kind, refused)
		}
	}
	must.Contain(t, n.Log.String(), "are refused: careful, code-change, media, ship.", "the start does not say which kinds are refused")
	n.Await(t, n.Create(t, object{"userId": "u1"}), "received") // other kinds need no callbacks
}

// A job that waited when callbacks were turned off cannot call back: it fails with the reason.
func TestWaitingJobEndsClearlyWithoutCallbacks(t *testing.T) {
	t.Parallel()
	n := rig.Start(t, vars{"REDIS_URL": rig.StartRedis(t).URL, "DATA_DIR": t.TempDir(), "HOLD": "0s"})
	id := n.Create(t, object{"kind": "ship", "userId": "u1", "input": object{"prompt": "Ship it", "projectName": "shop"}})
	n.Await(t, id, "awaiting_approval")
	n.Env["USE_CALLBACK_CLAUDE"] = "false"
	n = n.Again(t)
	n.Approve(t, id)
	record := n.Await(t, id, "failed")
	if record["errorCode"] != "callbacks_off" || !strings.Contains(record["error"].(string), "USE_CALLBACK_CLAUDE=true") {
		t.Errorf("ended as %v: %v", record["errorCode"], record["error"])
	}
}
