package people

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ringback/test/must"
	"ringback/test/rig"
	"ringback/test/sample"
)

// ends returns how the tool calls of a session ended, one line for each in the order of the
// calls; "open" for one without an end.
func ends(t testing.TB, all []object) []string {
	t.Helper()
	var order []string
	found := map[string]string{}
	for _, m := range all {
		for _, p := range m["parts"].([]any) {
			part := p.(object)
			call, _ := part["toolCallId"].(string)
			switch part["type"] {
			case "tool-call":
				if _, known := found[call]; !known {
					order, found[call] = append(order, call), "open"
				}
			case "tool-result":
				must.Equal(t, "open", found[call], "the call", call, "ended twice, or before it began", part)
				output, isText := part["output"].(string)
				if !isText {
					output = fmt.Sprint(part["output"].(object)["status"])
				}
				found[call] = fmt.Sprint(part["toolName"], " ", part["state"], " ", output)
			}
		}
	}
	lines := make([]string, len(order))
	for i, call := range order {
		lines[i] = found[call]
	}
	return lines
}

// All ways in which a call of an action that requires approval can end.
func TestEachActionCallInTheChatHasItsEnd(t *testing.T) {
	t.Parallel()
	input := object{"name": "shop"}
	for name, c := range sample.Cases(t, 3, map[string]struct {
		env  vars
		play func(g *rig.Gated)
		want []string
	}{
		"cancelled": {
			play: func(g *rig.Gated) { g.N.Want(g.T, 200, "POST", "/api/jobs/"+g.ID+"/cancel", nil) },
			want: []string{"deploy output-error cancelled"},
		},
		"cancelled after the yes": {
			play: func(g *rig.Gated) {
				g.Say("yes")
				g.N.Want(g.T, 200, "POST", "/api/jobs/"+g.ID+"/cancel", nil)
			},
			want: []string{"deploy output-error cancelled"},
		},
		"nobody answers": {
			env:  vars{"HUMAN_TIMEOUT": "1s"},
			play: func(g *rig.Gated) { g.AwaitEnd() },
			want: []string{"deploy output-error expired"},
		},
		"failed": {
			play: func(g *rig.Gated) {
				g.Say("yes")
				g.N.Want(g.T, 200, "POST", "/api/claude/failure", rig.With(g.Envelope, object{"error": "No."}))
			},
			want: []string{"deploy output-error failed"},
		},
		"never used": {
			play: func(g *rig.Gated) {
				g.Say("yes")
				g.N.Want(g.T, 200, "POST", "/api/claude/result", rig.With(g.Envelope, object{"done": true}))
			},
			want: []string{"deploy output-error unused"},
		},
		"the approval expires": {
			env: vars{"APPROVAL_TIMEOUT": "1s"},
			play: func(g *rig.Gated) {
				g.Say("yes")
				must.Eventually(g.T, "the call to end", func() bool { return ends(g.T, g.N.Messages(g.T, "s1", ""))[0] != "open" })
				g.Call(input, true) // claimed too late: the person is asked again
			},
			want: []string{"deploy output-error expired", "open"},
		},
		"allowed once more": {
			play: func(g *rig.Gated) {
				g.Say("yes")
				g.Call(input, false) // gets the yes
				g.Call(input, false) // and asks again
				g.Say("yes")
				g.Call(input, true)
			},
			want: []string{"deploy output-error superseded", "deploy output-available success"},
		},
		"allowed, then denied": {
			play: func(g *rig.Gated) {
				g.Say("yes")
				g.Call(input, false)
				g.Call(input, false)
				g.Say("no")
				g.Call(input, false) // gets the no
				if status, _ := g.Call(input, true); status != "pending_confirmation" || rig.Ran(g.T, g.Runs) != 0 {
					g.T.Errorf("after the no, the earlier yes still counts: %s", status)
				}
			},
			want: []string{"deploy output-error superseded", "deploy output-denied denied", "open"},
		},
		"asked back, then denied": {
			play: func(g *rig.Gated) {
				g.N.Say(g.T, "s1", "hm, perhaps")
				g.Say("no")
			},
			want: []string{"deploy output-denied denied"},
		},
		"retried": {
			play: func(g *rig.Gated) {
				g.N.Want(g.T, 200, "POST", "/api/jobs/"+g.ID+"/cancel", nil)
				g.N.Want(g.T, 200, "POST", "/api/jobs/"+g.ID+"/retry", nil)
				g.N.Await(g.T, g.ID, "running")
				g.Envelope["hmac"] = g.N.Want(g.T, 200, "GET", "/api/jobs/"+g.ID+"/callback", nil)["hmac"]
				g.Call(object{"name": "other"}, false)
				g.Say("no")
			},
			want: []string{"deploy output-error cancelled", "deploy output-denied denied"},
		},
	}) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			g := startGated(t, c.env, "")
			g.Call(input, false)
			c.play(g)
			must.Equal(t, c.want, ends(t, g.N.Messages(t, "s1", "")))
		})
	}
}

// While a call waits for confirmation, the chat contains what front ends look for; and a
// message reports when it has changed.
func TestPendingConfirmationIsInTheParts(t *testing.T) {
	t.Parallel()
	g := startGated(t, nil, "")
	g.Call(object{"name": "shop"}, false)
	shown := func() (message, part object) {
		t.Helper()
		for _, m := range g.N.Messages(t, "s1", "") {
			for _, p := range m["parts"].([]any) {
				if p.(object)["type"] == "tool-call" {
					return m, p.(object)
				}
			}
		}
		t.Fatal("the chat shows no call")
		return nil, nil
	}
	asked, part := shown()
	want := object{"status": "pending_confirmation", "message": "Awaiting user confirmation", "name": "shop"}
	if diff := cmp.Diff(want, part["output"]); diff != "" || part["toolName"] != "deploy" {
		t.Errorf("the call is shown as %v: %s", part, diff)
	}
	must.Equal(t, "Deploy?", asked["props"].(object)["title"], "the title is")
	must.Equal(t, asked["createdAt"], asked["updatedAt"], "a new message was updated at")
	g.Say("no")
	answered, part := shown()
	if part["output"] != nil || answered["updatedAt"] == asked["updatedAt"] || answered["createdAt"] != asked["createdAt"] {
		t.Errorf("once it is denied, it is shown as %v in %v", part, answered)
	}
}

// The calls of a process that is gone have ended, and so has one that its person never
// decided on.
func TestEachToolCallInTheChatHasItsEnd(t *testing.T) {
	t.Parallel()
	sample.OneIn(t, 3)
	file, _ := rig.Touched(t)
	for name, c := range map[string]struct {
		commands []string
		want     string
	}{
		"running":   {[]string{"true harmless; sleep 1000"}, "Bash output-error cancelled"},
		"asked for": {[]string{"touch " + file}, "Bash output-error cancelled"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			n, _ := rig.RealClaude(t, vars{"HOLD": "1s", "PROMPTS_DIR": rig.KindsDir(t, "careful.md", "---\ntools: {ask: ['Bash(touch *)'], allow: [Bash]}\n---\nBe careful.")}, rig.PlayCommands(c.commands...))
			id := n.Create(t, object{"kind": "careful", "input": object{}, "userId": "u1", "sessionId": "s1"})
			must.Eventually(t, "the call to be shown", func() bool { return len(ends(t, n.Messages(t, "s1", ""))) == 1 })
			if name == "asked for" { // parked: the process has ended, the call has not
				must.Eventually(t, "the process to end", func() bool { return len(rig.ProcessesIn(n.Dir)) == 0 })
				if got := ends(t, n.Messages(t, "s1", "")); got[0] != "open" {
					t.Errorf("the call that waits ended with %s", got)
				}
			}
			n.Want(t, 200, "POST", "/api/jobs/"+id+"/cancel", nil)
			must.Equal(t, []string{c.want}, ends(t, n.Messages(t, "s1", "")))
			must.Eventually(t, "the process to end", func() bool { return len(rig.ProcessesIn(n.Dir)) == 0 })
			must.Equal(t, []string{c.want}, ends(t, n.Messages(t, "s1", "")))
		})
	}
}
