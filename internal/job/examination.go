package job

// Finding is stored data that does not match the records of jobs and checkpoints. The records are
// authoritative: the lists, slots, queues and timers are derived from them.
type Finding struct {
	// Problem describes what is wrong.
	Problem string `json:"problem"`
	// Key is the key in the store, without the prefix of the partition. Member is the member of it,
	// or empty for the whole key.
	Key    string `json:"key"`
	Member string `json:"member,omitempty"`
	// RequestID is the affected job; empty if none.
	RequestID ID `json:"requestId,omitempty"`
	// Mended is true if it was repaired.
	Mended bool `json:"mended"`
}

// MaxFindings is the maximum number of findings that an examination lists.
const MaxFindings = 1000

// Examination is the result of checking a store.
type Examination struct {
	// Found counts the findings, and Mended those that were repaired.
	Found  int `json:"found"`
	Mended int `json:"mended"`
	// Findings are the first MaxFindings.
	Findings []Finding `json:"findings"`
	// Notifications counts the undelivered ones, by receiver.
	Notifications []NotificationCount `json:"notifications,omitempty"`
}

// Add counts a finding.
func (e *Examination) Add(f Finding) {
	e.Found++
	if f.Mended {
		e.Mended++
	}
	if len(e.Findings) < MaxFindings {
		e.Findings = append(e.Findings, f)
	}
}
