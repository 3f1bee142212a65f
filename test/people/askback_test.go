package people

import (
	"strings"
	"testing"

	"ringback/test/must"
	"ringback/test/rig"
)

func TestYesButBecomesAChange(t *testing.T) {
	t.Parallel()
	input, changed := object{"name": "shop"}, object{"name": "shop-replica"}
	for reply, reason := range map[string]string{"Yes, change it!": "yes but only the replica", "change: use the replica": "use the replica"} {
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
