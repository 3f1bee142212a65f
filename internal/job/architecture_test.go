package job_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"ringback/internal/job"
	"ringback/test/generated"
	"ringback/test/must"
)

func TestArchitectureDrawsTheStateMachine(t *testing.T) {
	t.Parallel()
	generated.Section(t, "architecture.md", "states", "\n"+diagram()+"\n"+phaseTable()+"\n")
}

// diagram returns the state machine in Mermaid, with the phases within their states.
func diagram() string {
	var out strings.Builder
	out.WriteString("```mermaid\nstateDiagram-v2\n")
	for _, s := range job.States {
		drawState(&out, s)
	}
	for _, t := range job.Transitions {
		if t.Within() {
			continue
		}
		from := string(t.From)
		if from == "" {
			from = "[*]"
		}
		fmt.Fprintf(&out, "    %s --> %s: %s\n", from, t.To, t.Why)
	}
	out.WriteString("```\n")
	return out.String()
}

// drawState draws the phases within a state. An end there is the end of a phase.
func drawState(out *strings.Builder, s job.State) {
	phases := phasesOf(s)
	if len(phases) == 0 {
		return
	}
	// Names belong to the diagram: a phase of two states is drawn twice.
	name := func(p job.Phase) string {
		if p == job.NoPhase {
			return "[*]"
		}
		return string(s) + "_" + string(p)
	}
	fmt.Fprintf(out, "    state %s {\n", s)
	for _, p := range phases {
		fmt.Fprintf(out, "        state \"%s\" as %s\n", p, name(p))
	}
	for _, t := range job.Transitions {
		if t.Within() && t.From == s {
			fmt.Fprintf(out, "        %s --> %s: %s\n", name(t.FromPhase), name(t.Phases[0]), t.Why)
		}
	}
	out.WriteString("    }\n")
}

func phasesOf(s job.State) []job.Phase {
	var phases []job.Phase
	for _, row := range job.Phases {
		if slices.Contains(row.States, s) {
			phases = append(phases, row.Phase)
		}
	}
	return phases
}

func phaseTable() string {
	var out strings.Builder
	out.WriteString("| phase | of | the job … | where people look |\n| --- | --- | --- | --- |\n")
	for _, row := range job.Phases {
		fmt.Fprintf(&out, "| `%s` | %s | %s | %s |\n", row.Phase, quoted(row.States), row.Meaning, row.Words)
	}
	return out.String()
}

// quoted lists the values that are not empty, in quotes.
func quoted[T ~string](values []T) string {
	var names []string
	for _, v := range values {
		if v != "" {
			names = append(names, "`"+string(v)+"`")
		}
	}
	return strings.Join(names, " or ")
}

// TestTransitionsAreWhole checks the table for entries that are wrong or missing.
func TestTransitionsAreWhole(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, row := range job.Transitions {
		for _, p := range row.Phases {
			key := fmt.Sprint(row.From, "/", row.FromPhase, " ", row.To, "/", p)
			if seen[key] {
				t.Errorf("%s stands twice", key)
			}
			seen[key] = true
			if p != job.NoPhase && !slices.Contains(phasesOf(row.To), p) {
				t.Errorf("%s: %s has no such phase", key, row.To)
			}
			if busy := row.To == job.Pending || row.To == job.Running; busy && p == job.NoPhase {
				t.Errorf("%s: %s always has a phase", key, row.To)
			}
		}
		if len(row.Phases) == 0 || row.Why == "" {
			t.Errorf("%+v is incomplete", row)
		}
		if row.From.Terminal() && row.To != job.Pending {
			t.Errorf("%+v: only a retry leaves %s", row, row.From)
		}
	}
	for _, s := range job.States {
		if !slices.ContainsFunc(job.Transitions[:], func(row job.Transition) bool { return row.To == s && !row.Within() }) {
			t.Errorf("nothing leads to %s", s)
		}
		if !s.Terminal() && (!s.CanBecome(job.Cancelled) || !s.CanBecome(job.Expired)) {
			t.Errorf("%s cannot be cancelled, or does not expire", s)
		}
		if s.CanBecome(s) {
			t.Errorf("%s follows itself", s)
		}
	}
	for _, row := range job.Phases {
		for _, s := range row.States {
			if !slices.ContainsFunc(job.Transitions[:], func(r job.Transition) bool { return r.To == s && slices.Contains(r.Phases, row.Phase) }) {
				t.Errorf("nothing leads to %s/%s", s, row.Phase)
			}
		}
	}
}

// The document states a move's event by the state that it leads to.
func TestTheEventOfAMoveIsThatOfItsNewState(t *testing.T) {
	t.Parallel()
	other := map[job.State]job.EventType{
		job.AwaitingApproval: job.EventCheckpoint, job.AwaitingInput: job.EventCheckpoint,
		job.Expired: job.EventError, job.Failed: job.EventError,
	}
	for _, row := range job.Transitions {
		want, differs := other[row.To]
		if !differs {
			want = job.EventType(row.To)
		}
		if row.FromPhase == job.Held {
			want = ""
		}
		must.Equal(t, want, row.Event, row.From, row.FromPhase, "to", row.To)
	}
}
