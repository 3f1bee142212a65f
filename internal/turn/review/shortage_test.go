package review_test

import (
	"cmp"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ringback/internal/job"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/turn/review"
	"ringback/test/must"
)

// onRetry returns a machine whose shortage ends as soon as it has kept something from succeeding once.
func (a *team) onRetry(repair *func()) *review.Workflow {
	return a.machineWith(a.t.TempDir(), onRecord{slog.DiscardHandler, func(message string) {
		if strings.Contains(message, "trying again") && *repair != nil {
			(*repair)()
			*repair = nil
		}
	}})
}

// movedAway moves a file or directory away and returns how to put it back.
func movedAway(t *testing.T, place string) func() {
	t.Helper()
	must.OK(t, os.Rename(place, place+".moved"))
	return func() {
		must.OK(t, os.RemoveAll(place))
		must.OK(t, os.Rename(place+".moved", place))
	}
}

// unreadable makes something that is there impossible to read or to look for, also for root: a directory is in the
// place of a file, or a file in that of a directory. It returns how to undo that.
func unreadable(t *testing.T, place string) func() {
	t.Helper()
	info := must.Get(os.Stat(place))(t)
	repair := movedAway(t, place)
	if info.IsDir() {
		must.OK(t, os.WriteFile(place, nil, 0o600))
	} else {
		must.OK(t, os.Mkdir(place, 0o700))
	}
	return repair
}

// A machine that lacks something for a moment, while it reads a submitted change, does not make Claude repeat it.
func TestAMachinesShortageCostsNoSubmittedChange(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(t *testing.T, dir string) func(){
		"git cannot store the change": func(t *testing.T, dir string) func() {
			t.Helper()
			return movedAway(t, filepath.Join(dir, "git", "service", "objects"))
		},
		"git cannot read where the work began": func(t *testing.T, dir string) func() {
			t.Helper()
			return movedAway(t, filepath.Join(dir, "git", "service", "refs", "ringback", "base"))
		},
		"its index has no place": func(t *testing.T, dir string) func() {
			t.Helper()
			return unreadable(t, dir)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all := newTeam(t)
			var repair func()
			all.flow = all.onRetry(&repair)
			turn := all.begin("reviewed")
			c := all.work(turn, "new.txt", "new\n")
			repair = spoil(t, filepath.Dir(c.Dir()))
			all.run(c.Next(nil))
			j := all.get(turn.Job.ID)
			must.Equal(t, job.AwaitingApproval, j.State)
			must.Contain(t, j.Checkpoint.Message, "new.txt (added, +1/-0)", "the question")
		})
	}
}

// What cannot be read is not taken for absent: nothing here is replaced or removed, because it may be the only copy.
func TestAnUnreadableWorkspaceIsKept(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		spoil func(t *testing.T, dir string) (repair func())
		// retried is true if the machine may recover by itself.
		retried bool
	}{
		"its mark cannot be read": {func(t *testing.T, dir string) func() {
			t.Helper()
			return unreadable(t, filepath.Join(dir, "settled"))
		}, false},
		"its clones cannot be found": {func(t *testing.T, dir string) func() {
			t.Helper()
			return unreadable(t, filepath.Join(dir, "git"))
		}, true},
		"none of it can be found": {func(t *testing.T, dir string) func() {
			t.Helper()
			return unreadable(t, dir)
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all := newTeam(t)
			var repair func()
			all.flow = all.onRetry(&repair)
			turn := all.begin("reviewed")
			id := turn.Job.ID
			first := all.work(turn, "new.txt", noise(6<<20)) // too large to be copied
			dir := filepath.Dir(first.Dir())
			all.run(first.Next(nil))
			all.endTurn(id)
			turn = all.decide(id, job.Steer, "more")
			must.OK(t, all.change(all.flow, turn.Job).Prepare(t.Context()))
			half := filepath.Join(dir, "tree", "service", "half.txt")
			must.OK(t, os.WriteFile(half, []byte("half\n"), 0o600))
			all.lose("n") // another attempt follows
			turn = all.take()

			fix := c.spoil(t, dir)
			next := all.change(all.flow, turn.Job)
			if c.retried {
				repair = fix
				must.OK(t, next.Prepare(t.Context()))
			} else {
				must.Fail(t, next.Prepare(t.Context()), "The workspace could not be made ready: ")
				fix()
				must.OK(t, next.Prepare(t.Context()))
			}
			must.Equal(t, false, next.Lost, "the change counts as lost")
			must.Equal(t, "half\n", string(must.Get(os.ReadFile(half))(t)), "of the unfinished round, there is")
		})
	}
}

// The only copy of an approved change is published once it can be read, and is never removed.
func TestTheOnlyCopyOfAnApprovedChangeIsKept(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(t *testing.T, dir string) (repair func()){
		"its mark cannot be read": func(t *testing.T, dir string) func() {
			t.Helper()
			return unreadable(t, filepath.Join(dir, "settled"))
		},
		"its mark is gone": func(t *testing.T, dir string) func() {
			t.Helper()
			return movedAway(t, filepath.Join(dir, "settled"))
		},
		"its mark is an older one": func(t *testing.T, dir string) func() {
			t.Helper()
			repair := movedAway(t, filepath.Join(dir, "settled"))
			must.OK(t, os.WriteFile(filepath.Join(dir, "settled"), []byte("nothing captured\n"), 0o600))
			return repair
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all := newTeam(t)
			turn := all.begin("reviewed")
			id := turn.Job.ID
			c := all.work(turn, "new.txt", "new\n"+noise(6<<20)) // too large to be copied
			all.run(c.Next(nil))
			all.endTurn(id)
			turn = all.decide(id, job.Approve, "")
			repair := spoil(t, filepath.Dir(c.Dir()))
			must.Fail(t, all.change(all.flow, turn.Job).Next(turn.Answers).Run(t.Context()), "The change could not be published: ")
			repair()
			all.run(all.change(all.flow, turn.Job).Next(turn.Answers))
			must.Equal(t, job.Received, all.get(id).State)
			must.Equal(t, true, strings.HasPrefix(all.pushed(id, "new.txt"), "new\n"), "it was pushed")
		})
	}
}

// A remote is not to blame for what it was not sent because this machine has lost it. The change is published from its
// copy; if there is none, the clone is kept until it is whole again.
func TestADamagedCloneIsMadeAgain(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		text     string
		isCopied bool
	}{
		"the change was kept":                   {"new\n", true},
		"the change was too large to be copied": {"new\n" + noise(6<<20), false},
	} {
		for _, lost := range []string{"new.txt", ""} { // a file, or the tree that lists it
			t.Run(name+", lost is "+cmp.Or(lost, "a directory"), func(t *testing.T) {
				t.Parallel()
				all := newTeam(t)
				turn := all.begin("reviewed")
				id := turn.Job.ID
				change := all.work(turn, "new.txt", c.text)
				all.run(change.Next(nil))
				all.endTurn(id)
				turn = all.decide(id, job.Approve, "")
				clone := filepath.Join(filepath.Dir(change.Dir()), "git", "service")
				object := all.git(clone, "rev-parse", must.Get(all.store.Changes.Trees(t.Context(), id))(t)["service"]+":"+lost)
				repair := movedAway(t, filepath.Join(clone, "objects", object[:2], object[2:]))
				file, elsewhere := filepath.Join(change.Dir(), "service", "new.txt"), filepath.Join(t.TempDir(), "new.txt")
				must.OK(t, os.Rename(file, elsewhere)) // the object would be made of it
				must.Fail(t, all.change(all.flow, turn.Job).Next(turn.Answers).Run(t.Context()), "The change could not be published: ")
				if !c.isCopied {
					repair()
					must.OK(t, os.Rename(elsewhere, file))
				}
				all.run(all.change(all.flow, turn.Job).Next(turn.Answers))
				must.Equal(t, job.Received, all.get(id).State)
				must.Equal(t, true, strings.HasPrefix(all.pushed(id, "new.txt"), "new"), "it was pushed")
			})
		}
	}
}

// A submitted change whose workspace cannot be looked for is not given back to Claude.
func TestASubmittedChangeThatCannotBeLookedForIsNotGone(t *testing.T) {
	t.Parallel()
	all := newTeam(t)
	turn := all.begin("reviewed")
	id := turn.Job.ID
	c := all.work(turn, "new.txt", "new\n")
	workspaces := filepath.Dir(filepath.Dir(c.Dir()))
	repair := unreadable(t, workspaces)
	step := c.Next(nil)
	repair()
	all.run(step)
	must.Equal(t, job.AwaitingApproval, all.get(id).State)
}

// An approved change whose remote is away for another machine is published once it is back. If that takes too
// long, or the remote refuses, a person is asked again, as after a push that fails.
func TestARemoteThatIsAwayFailsNoApprovedChange(t *testing.T) {
	t.Parallel()
	for name, asked := range map[string]bool{"it comes back": false, "it is another one now": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			all := newTeam(t)
			id := all.reviewed()
			turn := all.decide(id, job.Approve, "")
			back := movedAway(t, all.remote)
			ended := make(chan error, 1)
			if asked {
				all.git("", "init", "--quiet", "--bare", all.remote)
			}
			go func() { ended <- all.change(all.machine(t.TempDir()), turn.Job).Next(turn.Answers).Run(t.Context()) }()
			if !asked {
				must.Eventually(t, "the clone to be tried again", func() bool {
					shown := all.get(id).Activity
					return shown != nil && strings.Contains(shown.Message, "Cloning failed, trying again")
				})
				back()
			}
			must.OK(t, <-ended)
			if asked {
				question := all.get(id).Checkpoint
				must.Contain(t, question.Message, "could not be published everywhere", "the question")
				must.Contain(t, question.Message, "service: it is empty", "the question")
				must.Contain(t, all.finished(id)[0], "finalize error service: it is empty", "what came of the approval")
				all.endTurn(id)
				back()
				turn = all.decide(id, job.Approve, "")
				all.run(all.change(all.machine(t.TempDir()), turn.Job).Next(turn.Answers))
			}
			must.Equal(t, job.Received, all.get(id).State)
			must.Equal(t, "new", all.pushed(id, "new.txt"))
			must.Equal(t, map[bool]int{false: 1, true: 2}[asked], all.asked(id), "a person was asked … times")
		})
	}
}

// A node that wakes up in a submission stores nothing for the turn of the node that has taken over.
func TestASupersededSubmissionTouchesNoOtherTurn(t *testing.T) {
	t.Parallel()
	all := newTeam(t)
	stale := all.work(all.begin("reviewed"), "new.txt", "old\n").Next(nil)
	all.lose("n")
	turn := all.claim("m")
	other := all.change(all.node("m", t.TempDir(), slog.DiscardHandler), turn.Job)
	must.OK(t, other.Prepare(t.Context()))
	outcome, err := all.jobs.Accept(t.Context(), turn.Job.ID, lifecycle.Submission{Digest: "d", Result: []byte(`{"summary":"Wrote it."}`)})
	must.OK(t, err)
	must.Equal(t, true, outcome.OK(), outcome)
	if err := stale.Run(t.Context()); !errors.Is(err, lifecycle.ErrSuperseded) {
		t.Errorf("it ended with %v", err)
	}
	must.Equal(t, 0, len(must.Get(all.redis.Client.Keys(t.Context(), "*snapshot*").Result())(t)), "copies of the change")
}
