package server

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"time"

	"ringback/internal/job"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/server/config"
)

// rehearsed is the kind of the jobs that a rehearsal runs. A single request to the model is enough.
const rehearsed = "---\nmax_turns: 1\nmax_attempts: 1\ntimeout: 2m\nquestions: off\n---\nReply with OK. Do nothing else.\n"

// checkJobs runs jobs on a server like that of the configuration, with a store and a directory that exist for this
// check alone.
func checkJobs(ctx context.Context, s *setup) []Finding {
	if s.fails {
		return []Finding{note("no job was tried: solve the problems above, and check again")}
	}
	dir, err := os.MkdirTemp("", "ringback-check-")
	if err != nil {
		return []Finding{problem("no job can be tried: %v", err)}
	}
	defer os.RemoveAll(dir)
	kinds := filepath.Join(dir, "kinds")
	err = errors.Join(os.Mkdir(kinds, 0o700), os.WriteFile(filepath.Join(kinds, "rehearsal.md"), []byte(rehearsed), 0o600))
	if err != nil {
		return []Finding{problem("no job can be tried: %v", err)}
	}
	quiet := slog.New(slog.DiscardHandler)
	n := &node{log: quiet, refusals: quiet, opts: Options{
		Config: forRehearsal(s.Config, dir), Role: All, Hidden: []string{s.DataDir}, Drain: true, DrainTimeout: patience,
	}}
	stop, err := start(ctx, n.parts())
	defer stop()
	if err != nil {
		return []Finding{problem("a server like this does not start: %v", err)}
	}
	return slices.Concat(n.tryCallbacks(ctx, s.Config), n.tryCLI(ctx), n.tryModel(ctx, s.Live))
}

// forRehearsal returns the configuration of a server that no one but its own jobs can reach, and that reaches no one
// but the model.
func forRehearsal(c config.Config, dir string) config.Config {
	c.ListenAddr, c.CallbackListenAddr, c.CallbackBaseURL, c.OperatorListenAddr = "127.0.0.1:0", "", "http://127.0.0.1:0", ""
	c.RedisURL, c.RedisWait, c.DataDir = "", 0, filepath.Join(dir, "data")
	c.PromptsDir, c.SchemasDir = filepath.Join(dir, "kinds"), ""
	c.WebhookURL, c.SlackURL = "", ""
	c.Environ = append(slices.Clone(c.Environ), "RINGBACK_SIMULATE_PACE=1ms")
	return c
}

// run runs a job to its end, or until its first turn has failed.
func (n *node) run(ctx context.Context, o job.Options) (j job.Job, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, 3*time.Minute, errors.New("it took longer than three minutes"))
	defer cancel()
	j, err = n.jobs.Create(ctx, lifecycle.Request{
		UserID: "check", ByBackEnd: true, Kind: "rehearsal", Input: map[string]any{}, Options: o,
	})
	defer func(id job.ID) { // no turn outlives the check: it waits for those that run (Drain)
		_ = n.jobs.Cancel(context.WithoutCancel(ctx), id, job.Actor{})
	}(j.ID)
	for err == nil && !j.State.Terminal() && j.LastFailure == nil {
		select {
		case <-ctx.Done():
			return j, context.Cause(ctx)
		case <-time.After(20 * time.Millisecond):
		}
		j, err = n.store.Get(ctx, j.ID)
	}
	return j, err
}

// whyFailed returns why a job has no result, with its errorCode.
func whyFailed(j job.Job, err error) string {
	switch f := j.LastFailure; {
	case err != nil:
		return err.Error()
	case f != nil:
		return f.Error + " (" + string(f.ErrorCode) + ")"
	}
	return j.Error + " (" + string(j.ErrorCode) + ")"
}

// tryCallbacks has a program call back, from where those of turns do.
func (n *node) tryCallbacks(ctx context.Context, c config.Config) []Finding {
	if !c.UseCallback {
		return nil
	}
	j, err := n.run(ctx, job.Options{Simulate: job.SimulateSuccess})
	if err != nil || j.State != job.Received {
		return []Finding{problem("a program of a job could not call back: %s", whyFailed(j, err))}
	}
	if n.sandbox.InForce() {
		return []Finding{fine("a program in the sandbox has called back")}
	}
	return []Finding{tryAddress(ctx, c.CallbackBaseURL)}
}

// tryAddress asks what answers at the address for callbacks.
func tryAddress(ctx context.Context, base string) Finding {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/healthz", nil)
	if err != nil {
		return problem("CALLBACK_BASE_URL %s: %v", base, err)
	}
	resp, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(req) // no proxy: callbacks use none
	if err != nil {
		return note("CALLBACK_BASE_URL %s: no server answers there now. While the server runs, check again", base)
	}
	defer resp.Body.Close()
	var health struct{ Status, Version string }
	text, _ := io.ReadAll(io.LimitReader(resp.Body, 1<<10))
	if json.Unmarshal(text, &health) != nil || health.Status != "ok" {
		return problem("CALLBACK_BASE_URL %s: something other than Ringback answers there (%s): "+
			"set it to the address at which the CLI reaches this server's callbacks", base, resp.Status)
	}
	return fine("CALLBACK_BASE_URL %s: Ringback %s answers", base, health.Version)
}

// tryCLI starts the CLI as turns do.
func (n *node) tryCLI(ctx context.Context) []Finding {
	where := "without a sandbox"
	if n.sandbox.InForce() {
		where = "in the sandbox"
	}
	if n.claude.Simulated {
		return nil
	}
	if err := n.runner.TryCLI(ctx); err != nil {
		return []Finding{problem("the CLI does not start %s: %v. Install a version that does, such as the one above", where, err)}
	}
	return []Finding{fine("the CLI starts %s", where)}
}

// tryModel runs a job with a single turn, which asks the model once. It has no result: that the model has answered
// shows in what it cost.
func (n *node) tryModel(ctx context.Context, live bool) []Finding {
	switch {
	case !live:
		return nil
	case n.claude.Simulated:
		return []Finding{note("--live: no Claude CLI is installed, so the model was not called")}
	}
	begin := time.Now()
	j, err := n.run(ctx, job.Options{})
	u := j.Usage
	if err != nil || u.OutputTokens == 0 {
		return []Finding{problem("the model did not answer: %s. docs/how-to/find-out.md has what to do", whyFailed(j, err))}
	}
	took := time.Since(begin).Round(time.Second / 10)
	return []Finding{fine(
		"the model has answered in %s: %d tokens in, %d out, $%.4f", took, u.InputTokens, u.OutputTokens, u.CostUSD,
	)}
}
