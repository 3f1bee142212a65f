package workspace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"ringback/internal/job"
	"ringback/internal/rules/approval"
	"ringback/internal/sandbox/process"
	"ringback/internal/sandbox/untrusted"
	"ringback/internal/turn/claude"
)

const (
	// VerifierTimeout limits the time of a verifier.
	VerifierTimeout = 10 * time.Minute
	// verifierOutput is the number of bytes kept of each output.
	verifierOutput = 64 << 10
)

var errTooLong = errors.New("it took too long")

// verifierEnv returns the environment of verifiers: what compilers and package managers need, and
// none of Ringback's own variables.
func (w *Workspace) verifierEnv() []string {
	return process.Pick(w.root.Environ, toolVariables...)
}

// finalizerEnv returns the environment of finalizers. They push and open pull requests, so it
// includes the user's credentials if these may be used for the repository.
func (w *Workspace) finalizerEnv(r job.Repository) []string {
	if !w.root.mayLogIn(r) {
		return w.verifierEnv()
	}
	return process.Pick(w.root.Environ, append(slices.Clone(toolVariables), process.Remotes)...)
}

var toolVariables = []process.Variables{
	process.Basics, process.Person, process.Terminal, process.Certificates, process.Proxies, process.Toolchains,
}

// VerifierRules are a kind's rules for all its verifiers.
type VerifierRules struct {
	// Network limits what verifiers can reach from a sandbox.
	Network job.Network
	// Tools are the rules for Claude's calls. In a sandbox, verifiers cannot read what they deny.
	Tools approval.ToolRules
	// Trees are verified. If a repository has none, its current files are.
	Trees Trees
	// AtOnce is the number of verifiers that run at once. If it is more than one, each has separate copies.
	AtOnce int
	// ReadyFunc is called before verifiers run on new copies. Its error is the reason to run none.
	ReadyFunc func() error
}

// verifyDir contains the copies, below the workspace's directory.
const verifyDir = "verify"

// verification is one run of verifiers. Its worktrees are copies, which are not captured.
type verification struct {
	*Workspace
	marker  string
	network job.Network
	masks   process.Masks
	// fault is the reason to run no verifier; nil if they may run.
	fault error
}

// check is the run of a verifier in a repository.
type check struct {
	in  job.Repository
	of  job.Verifier
	out *job.VerifierOutput
}

// Verify runs the verifiers in copies of the repositories, in the sandbox if there is one, and returns their
// outcomes: all in the first repository, in the order of the list, then those in the next one. They run in
// that order, too, on the same copies. If several run at once, none sees what another one writes. The error is
// that of ReadyFunc, or the cause of ctx.
func (w *Workspace) Verify(
	ctx context.Context, marker string, rules VerifierRules, verifiers []job.Verifier,
) ([]job.VerifierOutput, error) {
	outputs := make([]job.VerifierOutput, len(w.Repositories)*len(verifiers))
	checks := make([]check, len(outputs))
	for i := range checks {
		checks[i] = check{w.Repositories[i/len(verifiers)], verifiers[i%len(verifiers)], &outputs[i]}
	}
	defer func() { _ = untrusted.Remove(filepath.Join(w.dir, verifyDir)) }()
	if rules.AtOnce <= 1 {
		return outputs, w.verifyOn(ctx, verifyDir, marker, rules, checks...)
	}
	errs := make([]error, len(checks))
	slots := make(chan struct{}, rules.AtOnce)
	var running sync.WaitGroup
	for i, c := range checks {
		slots <- struct{}{}
		running.Go(func() {
			errs[i] = w.verifyOn(ctx, filepath.Join(verifyDir, strconv.Itoa(i)), marker, rules, c)
			<-slots
		})
	}
	running.Wait()
	return outputs, cmp.Or(errs...)
}

// verifyOn runs verifiers one after the other, on new copies in a directory of the workspace's.
func (w *Workspace) verifyOn(ctx context.Context, tree, marker string, rules VerifierRules, checks ...check) error {
	if len(checks) == 0 {
		return nil
	}
	copies := *w
	copies.tree = tree
	defer func() { _ = untrusted.Remove(copies.Dir()) }()
	run := verification{Workspace: &copies, marker: marker, network: rules.Network}
	run.fault = w.copyTo(ctx, &copies, rules.Trees)
	if run.fault == nil && w.root.Sandbox.InForce() {
		run.masks, run.fault = claude.MasksOfProgram(ctx, rules.Tools, copies.Dir(), w.dir)
	}
	if run.fault == nil && rules.ReadyFunc != nil {
		if err := rules.ReadyFunc(); err != nil {
			return err
		}
	}
	for _, c := range checks {
		*c.out = run.verify(ctx, c.in, c.of)
	}
	return context.Cause(ctx) // the results of interrupted verifiers mean nothing
}

// copyTo replaces other worktrees of the workspace by clones with the contents of these trees. Copies are made
// one by one, because they need the same refs.
func (w *Workspace) copyTo(ctx context.Context, other *Workspace, trees Trees) error {
	w.copying.Lock()
	defer w.copying.Unlock()
	if err := untrusted.Remove(other.Dir()); err != nil {
		return err
	}
	for _, r := range w.Repositories {
		if err := w.copyRepository(ctx, other, r, trees[r.Name]); err != nil {
			return fmt.Errorf("copying the repository %s: %w", r.Name, err)
		}
	}
	return nil
}

func (w *Workspace) copyRepository(ctx context.Context, other *Workspace, r job.Repository, tree string) error {
	if tree == "" {
		g, done, err := w.index(ctx, r)
		if err != nil {
			return err
		}
		defer done()
		if tree, err = g.run(ctx, "write-tree"); err != nil {
			return err
		}
	}
	left := int64(maxUnpacked)
	nested := &bounded{left: &left}
	if err := w.packNested(ctx, r, tree, nested); err != nil {
		return err
	}
	if err := other.resetTo(ctx, r, baseRef); err != nil {
		return err
	}
	g, done, err := other.emptyIndex(r)
	if err != nil {
		return err
	}
	defer done()
	if err := g.checkOut(ctx, tree); err != nil {
		return err
	}
	return unpackNested(other.worktree(r), nested.Bytes())
}

func (w verification) verify(ctx context.Context, r job.Repository, v job.Verifier) job.VerifierOutput {
	ctx, cancel := context.WithTimeoutCause(ctx, VerifierTimeout, errTooLong)
	defer cancel()
	way := w.root.Doors.OfVerifier(w.id, w.network)
	ended, err := process.Ended{}, w.fault
	if err == nil {
		ended, err = process.Run(ctx, process.Command{
			Args: []string{"sh", "-c", v.Command}, Dir: w.worktree(r), Env: w.verifierEnv(), Marker: w.marker, OutputLimit: verifierOutput,
			Sandbox: w.root.Sandbox,
			Access:  process.Access{Writable: []string{w.Dir()}, Caches: w.Caches(), Masks: w.masks, Network: way.Network},
			Limits:  v.Limits,
		})
	}
	out := job.VerifierOutput{
		Verifier: r.Name + ":" + v.Name, Repository: r.Name, ExitCode: ended.Code, Stdout: ended.Stdout, Stderr: ended.Stderr,
		Success: err == nil && ended.Code == 0, DurationMS: ended.Took.Milliseconds(), TimedOut: errors.Is(err, errTooLong),
	}
	for _, reason := range []string{ended.Limit, way.Refused()} {
		if reason != "" {
			out.Stderr = strings.TrimSpace(out.Stderr + "\n" + reason)
		}
	}
	if err != nil {
		out.ExitCode = -1
		out.Stderr = strings.TrimSpace(out.Stderr + "\n" + err.Error())
	}
	return out
}
