package console

import "testing"

func TestTurnsAreCountedByTheirBeginnings(t *testing.T) {
	t.Parallel()
	turns := turnsOf(`{"type":"system","subtype":"init"}
{"type":"assistant"}
{"type":"system","subtype":"init"}
{"type":"result","total_cost_usd":0.5,"usage":{"input_tokens":10,"cache_read_input_tokens":70,"cache_creation_input_tokens":20}}
`)
	if len(turns) != 1 || turns[0].Turn != 2 || turns[0].InputTokens != 100 || turns[0].CacheReadTokens != 70 {
		t.Errorf("after a turn that was cut off, the next one is %+v", turns)
	}
}
