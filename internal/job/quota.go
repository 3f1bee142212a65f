package job

// Quota is how many jobs a user or a kind may have; 0: any number. A job that interprets a
// reply counts for nobody.
type Quota struct {
	// AtOnce bounds the jobs that have not ended: those that wait, run or ask a person.
	AtOnce int
	// PerDay bounds the jobs created on a day (UTC). A retry creates none.
	PerDay int
}

// Count is what a Quota is compared with.
type Count struct {
	// Open counts the jobs that have not ended.
	Open int `json:"open"`
	// Today counts the jobs created today (UTC), without those that RETENTION has removed.
	Today int `json:"today"`
}
