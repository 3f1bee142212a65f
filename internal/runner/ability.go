package runner

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"ringback/internal/job"
)

// ability tracks whether this node can run turns: by a check, for example of its disk and its CLI, and by
// what became of the turns that it has started.
type ability struct {
	checkFunc func() error
	log       *slog.Logger
	starts    starts

	mu      sync.Mutex
	problem error // of the latest check
	checked time.Time
	// said is the problem that the log has.
	said error
}

// recheckInterval is the validity of a check's result.
const recheckInterval = time.Second

// check returns the reason why the node cannot run turns, or nil if it can.
func (a *ability) check() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.recheck(recheckInterval)
}

// explains reports whether a check finds a problem now, which explains why something of the server's own
// has failed.
func (a *ability) explains() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	_ = a.recheck(0)
	return a.problem != nil
}

// recheck is check for a result that is not older than valid. It logs when a problem begins and ends.
func (a *ability) recheck(valid time.Duration) error {
	if time.Since(a.checked) >= valid {
		a.problem, a.checked = a.checkFunc(), time.Now()
	}
	problem := cmp.Or(a.problem, a.starts.problem())
	switch {
	case problem != nil && a.said == nil:
		a.log.Error("this node takes no jobs until it can run them", "error", problem)
	case problem == nil && a.said != nil:
		a.log.Info("this node can run jobs again")
	}
	a.said = problem
	return problem
}

// admits reports whether this node may take a job: it can run turns, or tries whether it can again.
func (a *ability) admits() bool {
	_ = a.check()
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.problem == nil && a.starts.admits(time.Now())
}

// starts judges a node by the starts of its turns. A node whose starts fail takes no jobs, except one at a
// time to try whether it can run them again.
type starts struct {
	mu sync.Mutex
	// begun counts the turns that have started here.
	begun int
	// jobs are those whose latest start here has failed.
	jobs map[job.ID]failedStart
	// inRow counts failed starts since a turn has started, and why is the reason of the latest.
	inRow int
	why   string
	// next is the time of the next try, which comes pause after the previous one. trying is the job with
	// which the node tries.
	next   time.Time
	pause  time.Duration
	trying job.ID
}

type failedStart struct {
	// begun is the value of starts.begun at that time.
	begun int
	// passed is true once the job was left to another node.
	passed bool
}

const (
	// mostFailedStarts is the number of failed starts in a row after which a node blocks itself.
	mostFailedStarts = 3
	// longestTryPause limits the time between two tries.
	longestTryPause = time.Minute
	// knownFailedStarts limits the jobs that are known to have failed to start.
	knownFailedStarts = 10000
)

// problem returns why the node has blocked itself; nil if it has not.
func (s *starts) problem() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.inRow < mostFailedStarts {
		return nil
	}
	return fmt.Errorf("%d turns in a row did not start (one job at a time is tried now): %s", s.inRow, s.why)
}

func (s *starts) admits(now time.Time) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.inRow < mostFailedStarts || s.trying == "" && !now.Before(s.next)
}

// took records that a job's turn is about to start.
func (s *starts) took(id job.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.inRow >= mostFailedStarts {
		s.trying = id
	}
}

// over records that a job's turn has ended, whatever became of it.
func (s *starts) over(id job.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.trying == id {
		s.trying = ""
	}
}

// started records that the CLI of a job's turn has printed its first line.
func (s *starts) started(id job.ID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.jobs, id)
	s.begun++
	s.inRow, s.pause, s.trying = 0, 0, ""
}

// failed records that no CLI was started for a job's turn, or that it ended before its first line, and
// reports whether that is the node's fault, as far as the node knows. It is the job's if another job has
// started here since it failed before. Nor does such a job block a node on which others start.
func (s *starts) failed(id job.ID, why string, now time.Time) (isNodes bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before, again := s.jobs[id]
	if s.jobs == nil || len(s.jobs) >= knownFailedStarts {
		s.jobs = map[job.ID]failedStart{}
	}
	s.jobs[id] = failedStart{begun: s.begun}
	if !again || s.begun == 0 || s.trying == id {
		s.inRow++
		s.why = why
	}
	if s.inRow >= mostFailedStarts {
		s.pause = min(max(2*s.pause, recheckInterval), longestTryPause)
		s.next = now.Add(s.pause)
	}
	if s.trying == id {
		s.trying = ""
	}
	return !again || before.begun == s.begun
}

// passesOn reports, once for each failed start of a job's turn, whether another node should try.
func (s *starts) passesOn(id job.ID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	f, failed := s.jobs[id]
	if !failed || f.passed {
		return false
	}
	f.passed = true
	s.jobs[id] = f
	return true
}

// Problem returns the reason why this node cannot run turns, or nil if it can.
func (r *Runner) Problem() error { return r.ability.check() }

// awaitAbility waits, as pause does, until this node may take a job. It returns false if ctx
// ends. Until then, other nodes take the jobs.
func (r *Runner) awaitAbility(ctx context.Context) bool {
	for !r.ability.admits() {
		if !pause(ctx, r, time.After(recheckInterval)) {
			return false
		}
	}
	return true
}
