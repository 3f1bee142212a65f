package store

import (
	"context"
	"fmt"
	"strings"

	"ringback/internal/job"
)

// stateMachine is what the scripts know of job.Transitions, in Lua: TERMINAL, a set
// of states; DEFAULT_PHASE, by state; and moves(), which returns the event of each
// move by "<from>><state>/<phase>", <from> being a state, or "<state>/<phase>" where
// the state stays. It is a function since making the table takes 2 µs, and few runs
// of a script need it.
func stateMachine() string {
	var out strings.Builder
	out.WriteString("local TERMINAL = {")
	for _, s := range job.States {
		if s.Terminal() {
			fmt.Fprintf(&out, " %s = true,", s)
		}
	}
	out.WriteString(" }\nlocal DEFAULT_PHASE = {")
	for _, s := range job.States {
		if phase := s.DefaultPhase(); phase != job.NoPhase {
			fmt.Fprintf(&out, " %s = '%s',", s, phase)
		}
	}
	out.WriteString(" }\nlocal all\nlocal function moves()\nall = all or {\n")
	for _, t := range job.Transitions {
		from := string(t.From)
		if t.Within() {
			from += "/" + string(t.FromPhase)
		}
		for _, phase := range t.Phases {
			fmt.Fprintf(&out, "['%s>%s/%s'] = '%s',\n", from, t.To, phase, t.Event)
		}
	}
	out.WriteString("}\nreturn all\nend\n")
	return out.String()
}

// Phase says what a job's running turn is busy with. Where the turn is no longer
// the job's, nor the node's, nothing happens.
func (s *Store) Phase(ctx context.Context, id job.ID, turn int, node string, phase job.Phase) error {
	_, err := s.runJob(ctx, s.scripts.phase, id, turn, node, string(phase))
	return err
}
