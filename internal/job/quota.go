package job

// Quota limits the jobs of a user or a kind; 0 means any number. Jobs that interpret a reply are
// not counted.
type Quota struct {
	// AtOnce limits the jobs that have not ended: those that wait, run or ask a person.
	AtOnce int
	// PerDay limits the jobs created on a day (UTC). A retry creates none.
	PerDay int
}

// Count is the number of jobs to compare with a Quota.
type Count struct {
	// Open counts the jobs that have not ended.
	Open int `json:"open"`
	// Today counts the jobs created today (UTC), without those that RETENTION has removed.
	Today int `json:"today"`
}
