package lifecycle

import (
	"errors"
	"testing"

	"ringback/internal/job"
	"ringback/test/must"
)

// auditOf returns the entries that a decision adds to the audit log.
func auditOf(t *testing.T, st *State) []job.AuditEntry {
	t.Helper()
	var entries []job.AuditEntry
	for _, e := range st.Effects {
		if text, ok := e.(AppendAudit); ok {
			var entry job.AuditEntry
			must.OK(t, job.UnmarshalExact([]byte(text.Entry), &entry))
			entries = append(entries, job.AuditEntry{
				Event: entry.Event, Detail: entry.Detail, CheckpointID: entry.CheckpointID, Run: entry.Run, Outcome: entry.Outcome, Operation: entry.Operation,
			})
		}
	}
	return entries
}

// The results of a change are stored and audited in one commit, by the node that owns its turn.
func TestAChangeIsAuditedWithWhatIsKeptOfIt(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		holder Holder
		err    error
		want   []job.AuditEntry
	}{
		"the holder":   {Holder{Turn: 1, Node: "n"}, nil, []job.AuditEntry{{Event: "finished", Outcome: "success"}}},
		"another node": {Holder{Turn: 1, Node: "other"}, ErrSuperseded, nil},
	} {
		st := jobIn("running")
		err := st.saveChange(row.holder, map[string]string{"finalized": "[]"}, []job.AuditEntry{{Event: "finished", Outcome: "success"}})
		if !errors.Is(err, row.err) || (err == nil) != (len(st.Effects) == 2) {
			t.Errorf("%s: %v, with %d effects", name, err, len(st.Effects))
		}
		must.Equal(t, row.want, auditOf(t, st), name, "the audit log")
	}
}
