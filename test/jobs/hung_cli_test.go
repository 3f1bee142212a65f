package jobs

import (
	"testing"

	"ringback/test/messagesapi"
	"ringback/test/rig"
	"ringback/test/sample"
)

// A turn of the real CLI whose command prints nothing for longer than stall_timeout is left alone. When
// the model's API no longer answers, the turn is ended, and the next one continues its conversation.
func TestRealCLIThatHangsIsStartedAgain(t *testing.T) {
	t.Parallel()
	sample.OneIn(t, 3)
	hung := false
	submit := rig.Finish(func(r messagesapi.Request) bool { return hung }, true, "sleep 23")
	kinds := rig.TalkKind(t, "callback: mcp\nstall_timeout: 20s\ntimeout: 10m\n")
	n, api := rig.RealClaude(t, vars{"PROMPTS_DIR": kinds, "SANDBOX": "auto"}, func(r messagesapi.Request) messagesapi.Reply {
		if len(r.Results()) == 1 && !hung {
			hung = true
			return messagesapi.Hang()
		}
		return submit(r)
	})
	record := n.Await(t, n.Create(t, object{"kind": "talk", "input": object{}, "userId": "u1"}), "received")
	failure, _ := record["lastFailure"].(object)
	if failure["errorCode"] != "stalled" || failure["error"] != "Claude printed nothing for 20s." {
		t.Errorf("the last failure is %v", failure)
	}
	requests := api.Requests()
	if last := requests[len(requests)-1]; last.Conversation != requests[0].Conversation || last.Results()[0].IsError {
		t.Errorf("the conversation before is lost, or its command was ended: %v", last.Results())
	}
}
