package review

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"ringback/internal/job"
	"ringback/internal/people/checkpoint"
	"ringback/internal/rules/kind"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/store"
	"ringback/internal/turn/workspace"
)

// Workflow handles the changes of one node's jobs.
type Workflow struct {
	store  *store.Store
	jobs   *lifecycle.Service
	people *checkpoint.Service
	root   workspace.Root
	node   string
	log    *slog.Logger
}

// New returns the workflow of a node with its workspaces in root.
func New(
	s *store.Store, jobs *lifecycle.Service, people *checkpoint.Service, root workspace.Root, node string,
	log *slog.Logger,
) *Workflow {
	return &Workflow{store: s, jobs: jobs, people: people, root: root, node: node, log: log}
}

// Change is one job's change during one turn.
type Change struct {
	job.Change
	// Lost is true if the changes of earlier turns are lost with another machine. Prepare
	// sets it.
	Lost bool

	flow      *Workflow
	kind      *kind.Kind
	job       job.Job // as of the beginning of the turn
	workspace *workspace.Workspace
}

// Change returns the change of a job of kind k; nil if the kind makes none. The error is an
// *Error.
func (f *Workflow) Change(k *kind.Kind, j job.Job) (*Change, error) {
	asked, err := k.Change(j.Input)
	if err == nil && asked == nil {
		return nil, nil
	}
	c := &Change{flow: f, kind: k, job: j}
	if err == nil {
		c.Change = *asked
		c.Repositories, err = workspace.Named(asked.Repositories)
	}
	if err == nil && len(c.Repositories) == 0 { // a job from before its kind had a workspace, or its follow-up
		err = errors.New("neither its request nor its kind names a repository")
	}
	if err != nil {
		return nil, notReady(err)
	}
	c.workspace = f.root.Of(string(j.ID), c.Repositories)
	return c, nil
}

func (c *Change) holder() lifecycle.Holder {
	return lifecycle.Holder{Turn: c.job.Turn, Node: c.flow.node}
}

// holds returns an error if this node no longer owns the turn. Call it before doing
// anything that cannot be undone.
func (c *Change) holds(ctx context.Context) error {
	return c.flow.jobs.Holds(ctx, c.job.ID, c.holder())
}

// Dir returns Claude's working directory, which contains a directory for each repository.
func (c *Change) Dir() string { return c.workspace.Dir() }

// Caches returns the directory for package managers' caches.
func (c *Change) Caches() string { return c.workspace.Caches() }

// Decision returns the latest decision about a job's change, and the prompt if it is to
// steer; "" if there is none.
func Decision(answers []job.Checkpoint, id job.ID) (d job.Decision, prompt string) {
	for _, a := range slices.Backward(answers) {
		if a.RequestID == id && a.Type == job.Review && a.Reply != nil {
			return a.Reply.Decision, a.Reply.Reason
		}
	}
	return "", ""
}

// storeTimeout is the timeout of a store call that outlives the turn.
const storeTimeout = 10 * time.Second

// ShowPhase shows people what the turn is doing. It is optional: if the store is
// unavailable, the turn continues.
func (c *Change) ShowPhase(ctx context.Context, p job.Phase) {
	ctx, cancel := context.WithTimeout(ctx, storeTimeout)
	defer cancel()
	if err := c.flow.jobs.SetPhase(ctx, c.job.ID, c.holder(), p); err != nil && ctx.Err() == nil {
		c.flow.log.Warn("could not show a phase", "requestId", c.job.ID, "phase", p, "error", err)
	}
}

func (c *Change) reportProgress(ctx context.Context, text string) {
	facts, _, ok, err := c.flow.store.Calls.Header(ctx, c.job.ID)
	if err != nil || !ok {
		return
	}
	activity := job.MustJSON(job.Activity{Message: text, Type: job.Results, Progress: 90})
	digest := job.ActivityDigest(fmt.Appendf(activity, "%d", time.Now().UnixNano())) // a step may be repeated
	// It is not signed, since it is no callback of Claude's. If it fails, people miss one line.
	_, _ = c.flow.store.Calls.Progress(ctx, c.job.ID, facts.Unsigned(), activity, digest)
}
