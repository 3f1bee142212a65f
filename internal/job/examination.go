package job

// Finding is something stored that does not fit the records of jobs and checkpoints. The
// records are the truth: from them follows in which lists they are, who holds a worker,
// what waits, and which clocks run.
type Finding struct {
	// Problem says what is wrong.
	Problem string `json:"problem"`
	// Key is where, without the prefix of the partition, and Member what of it; empty for
	// all of it.
	Key    string `json:"key"`
	Member string `json:"member,omitempty"`
	// RequestID is the job that it is about; empty for none.
	RequestID ID `json:"requestId,omitempty"`
	// Mended is whether it was put right.
	Mended bool `json:"mended"`
}

// MaxFindings is how many findings an examination shows.
const MaxFindings = 1000

// Examination is what was found in a store.
type Examination struct {
	// Found counts the findings, and Mended those that were put right.
	Found  int `json:"found"`
	Mended int `json:"mended"`
	// Findings are the first MaxFindings.
	Findings []Finding `json:"findings"`
	// Notifications count those that have not got through, by receiver.
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
