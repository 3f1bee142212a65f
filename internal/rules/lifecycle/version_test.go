package lifecycle

import (
	"testing"

	"ringback/internal/job"
	"ringback/test/must"
)

// The version that a node expects to run is recorded when the turn starts, and corrected if another
// one, or none, runs.
func TestTheVersionsThatRanTheTurns(t *testing.T) {
	t.Parallel()
	before := CLIVersions{{FromTurn: 1, Version: "1"}}
	for name, row := range map[string]struct {
		node string
		end  func(*State) error
		want CLIVersions
	}{
		"the same":          {node: "1", want: before},
		"another one":       {node: "2", want: CLIVersions{{FromTurn: 1, Version: "1"}, {FromTurn: 2, Version: "2"}}},
		"not known yet":     {node: "", want: before},
		"updated since":     {"2", ran("3"), CLIVersions{{FromTurn: 1, Version: "1"}, {FromTurn: 2, Version: "3"}}},
		"the old one again": {"2", ran("1"), before},
		"none, in the end":  {"2", unstarted, before},
	} {
		st := jobIn("pending")
		st.Job.CLIVersions = before
		st.EntryOwned.Set(true)
		entry := QueueEntry{JobID: st.Job.ID, Priority: job.Interactive, Entry: "2-0"}
		must.Get(st.startTurn(Options{UserLimit: 1}, Worker{Node: "n", CLIVersion: row.node}, entry, "new"))(t)
		if row.end != nil {
			must.OK(t, row.end(st))
		}
		must.Equal(t, row.want, st.Job.CLIVersions, name)
	}
	must.Equal(t, CLIVersions{{FromTurn: 1, Version: "1"}}, before)
}

func ran(version string) func(*State) error {
	return func(st *State) error {
		st.Job.CLIVersions = st.Job.CLIVersions.with(st.Job.Turn, version)
		return nil
	}
}

func unstarted(st *State) error {
	_, err := st.endTurn(TurnEnd{ID: st.Job.ID, Turn: st.Job.Turn, Node: "n", Unstarted: true, Code: job.CodeWorkspace})
	return err
}
