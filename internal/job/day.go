package job

// Day is the counts of one day, over all users, kinds and nodes.
type Day struct {
	// Date is the day, in UTC.
	Date string `json:"date"`
	// CostUSD is the cost of the turns that ended on that day, by kind.
	CostUSD map[string]float64 `json:"costUSD"`
	// FirstCallback counts those turns by the time until Claude's first callback. Approvals counts
	// the decisions by the time they took.
	FirstCallback []Class `json:"firstCallback"`
	Approvals     []Class `json:"approvals"`
}

// Class counts durations of at most UpToSeconds that are longer than the previous class allows.
type Class struct {
	// UpToSeconds is nil in the last class, which is unbounded.
	UpToSeconds *int  `json:"upToSeconds" jsonschema:"nullable"`
	Count       int64 `json:"count"`
}
