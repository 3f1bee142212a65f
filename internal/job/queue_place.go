package job

import (
	"cmp"
	"fmt"
	"time"
)

// QueuePlace is the place in the queue of a job that waits for a worker.
type QueuePlace struct {
	// OwnJobs counts the jobs of the same user that start before this one.
	OwnJobs int64 `json:"ownJobs"`
	// OtherUsers counts the other users with queued jobs of the same priority. API keys take turns, and
	// then the users of each. The count may include users without remaining jobs, if they were
	// cancelled since their last turn.
	OtherUsers int64 `json:"otherUsers"`
}

// Words describes the place for people.
func (q QueuePlace) Words() string {
	own, others := count(
		q.OwnJobs, "other job of the same user", "other jobs of the same user",
	), count(q.OtherUsers, "other user in line", "other users in line")
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

// WaitingWords describes a phase for people. until is set if the phase ends at a set time; last is
// the failure of the latest turn, or nil.
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
	return cmp.Or(phase.Words(), string(phase)) // a newer server may have more phases
}

// Reports reports whether Activity is current. For a job that waits or does something else, it is
// outdated.
func (j Job) Reports() bool {
	return j.Activity != nil && j.State == Running && (j.Phase == "" || j.Phase == AtWork || j.Phase == Preparing)
}

// Doing describes briefly what happens within the job's state; "" if there is nothing to add.
func (j Job) Doing() string {
	words := WaitingWords(j.Phase, j.PhaseUntil, j.LastFailure)
	if j.Queue == nil {
		return words
	}
	return words + ": " + j.Queue.Words()
}
