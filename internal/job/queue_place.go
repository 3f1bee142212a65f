package job

import "fmt"

// QueuePlace is what a job waits behind that waits for a worker.
type QueuePlace struct {
	// OwnJobs counts the jobs of the same user that start before this one.
	OwnJobs int64 `json:"ownJobs"`
	// OtherUsers counts the other users with jobs of the same priority in line. Users take
	// turns: one job of each starts before each job of this user. It may count users whose
	// jobs have been cancelled since their last turn.
	OtherUsers int64 `json:"otherUsers"`
}

// Words says it to people.
func (q QueuePlace) Words() string {
	own, others := count(q.OwnJobs, "other job of the same user", "other jobs of the same user"), count(q.OtherUsers, "other user in line", "other users in line")
	switch {
	case own != "" && others != "":
		return own + " first, " + others
	case own != "":
		return own + " first"
	case others != "":
		return others
	}
	return "next in line"
}

func count(n int64, one, many string) string {
	switch n {
	case 0:
		return ""
	case 1:
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// Doing says in a few words what goes on within the job's state; "" for nothing more to say.
func (j Job) Doing() string {
	if j.Queue == nil {
		return j.Phase.Words()
	}
	return j.Phase.Words() + ": " + j.Queue.Words()
}
