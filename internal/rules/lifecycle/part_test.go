package lifecycle

import (
	"testing"

	"ringback/internal/job"
	"ringback/test/must"
)

// A rule fails its command if it reads what was not loaded, and ends nothing else. What was loaded may
// be nil.
func TestARuleReadsOnlyWhatWasLoaded(t *testing.T) {
	t.Parallel()
	rules := map[string]func(*State){
		"the latest job":             func(st *State) { st.Latest.Get() },
		"the chat":                   func(st *State) { st.addNotice(st.Job.chat(), "Hello.") },
		"the checkpoint it waits at": func(st *State) { st.Job.Checkpoint = "chk_00_a"; st.waitsAt(st.Job) },
		"that of another job":        func(st *State) { st.waitsAt(&Job{Record: Record{Checkpoint: "chk_00_a"}}) },
	}
	for name, rule := range rules {
		decide := func(st *State) error { rule(st); return nil }
		s := new(Service)
		if err := s.decideOn(t.Context(), &State{Job: new(Job)}, decide); !job.HasKind(err, job.Internal) {
			t.Errorf("%s was not loaded, and the command ends with %v", name, err)
		}
		if name != "that of another job" {
			must.OK(t, s.decideOn(t.Context(), loaded(new(Job)), decide))
		}
	}
}
