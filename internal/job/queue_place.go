package job

import (
	"fmt"
	"time"
)

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

// WaitingWords are what people read of a phase: until is set if it ends by time alone, last is
// how the latest turn failed, or nil.
func WaitingWords(phase Phase, until time.Time, last *Failure) string {
	switch {
	case until.IsZero():
	case phase == Queued:
		return "waiting for the next attempt"
	case phase == WaitingForLimit && last != nil && last.ErrorCode == CodeSignedOut:
		return "Claude is not signed in"
	case phase == WaitingForLimit && last != nil && last.ErrorCode == CodeBudgetExceeded:
		return "waiting until the day turns: a budget is used up"
	case phase == WaitingForLimit:
		return "waiting for the end of a limit"
	}
	return phase.Words()
}

// Reports reports whether Activity is of what goes on now: of a job that waits, or that does
// something else, it tells of the past.
func (j Job) Reports() bool {
	return j.Activity != nil && j.State == Running && (j.Phase == "" || j.Phase == AtWork || j.Phase == Preparing)
}

// Doing says in a few words what goes on within the job's state; "" for nothing more to say.
func (j Job) Doing() string {
	words := WaitingWords(j.Phase, j.PhaseUntil, j.LastFailure)
	if j.Queue == nil {
		return words
	}
	return words + ": " + j.Queue.Words()
}
