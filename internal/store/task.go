package store

import (
	"context"
	"slices"
	"strings"
	"time"

	"ringback/internal/job"
	"ringback/internal/rules/lifecycle"
)

// Task is something to be done outside Redis, at least once.
type Task struct {
	Kind lifecycle.TaskKind
	// Ref identifies what the task is about: a job or a checkpoint.
	Ref string
	// Attempt counts from 1.
	Attempt int
	// leased is the end of the lease, as it is stored.
	leased string
}

// LeaseTasks leases the tasks of a partition that are due: our own, and those that send a notice. Each is due again
// after its lease unless FinishTask or PostponeTask is called first. It also returns how long until the next task
// is due; negative if there is none.
func (ts Tasks) LeaseTasks(
	ctx context.Context, p Partition, own, notice time.Duration, limit int,
) ([]Task, time.Duration, error) {
	answer, _, err := ts.s.runTimed(ctx, ts.s.scripts.tasks, p, toMillis(own), toMillis(notice), limit)
	if err != nil {
		return nil, 0, err
	}
	parts := texts(answer)
	tasks := make([]Task, 0, len(parts)/3)
	for leased := range slices.Chunk(parts[1:], 3) {
		t := parseTask(leased[0])
		t.leased, t.Attempt = leased[1], atoi(leased[2])
		tasks = append(tasks, t)
	}
	return tasks, time.Duration(atoi(parts[0])) * time.Millisecond, nil
}

// member returns the task as it is stored, without its attempt; parseTask is the inverse.
func (t Task) member() string { return string(t.Kind) + "|" + t.Ref }

func parseTask(member string) Task {
	kind, ref, _ := strings.Cut(member, "|")
	return Task{Kind: lifecycle.TaskKind(kind), Ref: ref}
}

// FinishTask removes a task that is done, or an internal task that is given up. It does not remove one that
// was added again while it ran: that is due, for another reason.
func (ts Tasks) FinishTask(ctx context.Context, p Partition, t Task) error {
	_, err := ts.s.run(ctx, ts.s.scripts.notice, p, "finish", t.member(), string(t.Kind), t.leased)
	return err
}

// PostponeTask makes a task due again after a while, unless it was added again while it ran, or another node has
// leased it.
func (ts Tasks) PostponeTask(ctx context.Context, p Partition, t Task, after time.Duration) error {
	_, err := ts.s.run(ctx, ts.s.scripts.notice, p, "postpone", t.member(), t.leased, toMillis(after))
	return err
}

// Interprets returns the reply that a job was created to interpret.
func (j Jobs) Interprets(ctx context.Context, id job.ID) (lifecycle.Round, error) {
	text, found, err := j.s.field(ctx, "job", id, "interprets")
	if err == nil && !found {
		err = job.NoJob(id)
	}
	return roundOf(text), err
}

// RoundOf parses the reference of a TaskUnderstand.
func RoundOf(t Task) lifecycle.Round { return roundOf(t.Ref) }
