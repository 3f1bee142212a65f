package job

// Day is what was counted on a day, over all users, kinds and nodes.
type Day struct {
	// Date is the day, in UTC.
	Date string `json:"date"`
	// CostUSD is what turns that ended on it have cost, by kind.
	CostUSD map[string]float64 `json:"costUSD"`
	// FirstCallback counts those turns by how long it took until Claude first called back,
	// Approvals the decisions by how long they took.
	FirstCallback []Class `json:"firstCallback"`
	Approvals     []Class `json:"approvals"`
}

// Class counts what took no longer than UpToSeconds, and longer than the class before.
type Class struct {
	// UpToSeconds is nil in the last class: no bound.
	UpToSeconds *int  `json:"upToSeconds" jsonschema:"nullable"`
	Count       int64 `json:"count"`
}
