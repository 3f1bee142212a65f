package workspace

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"ringback/internal/approval"
	"ringback/internal/forbidden"
	"ringback/internal/job"
	"ringback/internal/process"
)

const (
	// VerifierTimeout limits the time of a verifier.
	VerifierTimeout = 10 * time.Minute
	// maxParallel is the number of verifiers that run at the same time.
	maxParallel = 4
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
}

// verification is one run of a workspace's verifiers.
type verification struct {
	*Workspace
	marker  string
	network job.Network
	masks   process.Masks
	// fault is the reason to run no verifier; nil if they may run.
	fault error
}

// Verify runs each verifier in each repository, in the sandbox if there is one, and returns their
// outcomes in that order.
func (w *Workspace) Verify(
	ctx context.Context, marker string, rules VerifierRules, verifiers []job.Verifier,
) []job.VerifierOutput {
	if len(verifiers) == 0 {
		return []job.VerifierOutput{}
	}
	run := verification{Workspace: w, marker: marker, network: rules.Network}
	if w.root.Sandbox.InForce() {
		run.masks, run.fault = forbidden.ToProgram(rules.Tools, w.Dir(), w.dir)
	}
	outputs := make([]job.VerifierOutput, len(w.Repositories)*len(verifiers))
	slots := make(chan struct{}, maxParallel)
	var running sync.WaitGroup
	for i, r := range w.Repositories {
		for k, v := range verifiers {
			running.Go(func() {
				slots <- struct{}{}
				defer func() { <-slots }()
				outputs[i*len(verifiers)+k] = run.verify(ctx, r, v)
			})
		}
	}
	running.Wait()
	return outputs
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
