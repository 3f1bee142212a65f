package console

import "testing"

func TestTurnsAreCountedByTheirBeginnings(t *testing.T) {
	t.Parallel()
	turns := turnsOf(`{"type":"system","subtype":"init"}
{"type":"assistant"}
{"type":"system","subtype":"init"}
{"type":"result","total_cost_usd":0.5}
`)
	if len(turns) != 1 || turns[0].Turn != 2 {
		t.Errorf("after a turn that was cut off, the next one is %+v", turns)
	}
}
