package runner

import (
	"context"
	"os"
	"path/filepath"

	"ringback/internal/claude"
	"ringback/internal/job"
	"ringback/internal/kind"
	"ringback/internal/lifecycle"
	"ringback/internal/limit"
	"ringback/internal/process"
	"ringback/internal/review"
)

// confine puts a turn's process into the sandbox, if there is one: it has its working
// directory, its conversation, and what package managers have fetched for its job.
func (r *Runner) confine(d *process.Detached, st *lifecycle.Turn, change *review.Change, files cliFiles) error {
	config, err := r.ownConversation(st)
	if err != nil {
		return err
	}
	d.Sandbox = r.opts.Sandbox
	if !d.Sandbox.InForce() {
		return nil
	}
	d.Room = process.Room{Writable: []string{d.Dir}, Caches: filepath.Join(r.nodeDir.jobDir(st.Job.ID), "caches")}
	if change != nil {
		d.Room.Caches = change.Caches()
	}
	d.Room.Readable = append(d.Room.Readable, files.all()...)
	if config == "" {
		return nil
	}
	prepared, err := claude.PrepareConfigDir(config, d.Env)
	if err != nil {
		return err
	}
	d.Env = append(d.Env, prepared.Env...)
	d.Room.Writable = append(d.Room.Writable, config)
	d.Room.Readable = append(d.Room.Readable, prepared.Readable...)
	d.Room.Shown = prepared.Shown
	return nil
}

// ownConversation notes which conversation a turn's process is to lead, and returns where
// its configuration lies in a sandbox; "" where it keeps its conversation where it works.
func (r *Runner) ownConversation(st *lifecycle.Turn) (config string, err error) {
	if st.Job.Simulated {
		return "", nil
	}
	if err := r.nodeDir.beginsConversation(st); err != nil {
		return "", err
	}
	return r.conversationDir(st)
}

// turnLimits are what a turn may take.
func turnLimits(k *kind.Kind) limit.Limits { return k.Policy.Limits.AtLeast(limit.CLI) }

// reachedLimit says in words which limit the process of a turn has reached; "" for none.
func (t *claudeTurn) reachedLimit(exit process.Exit, printed summary) string {
	k, err := t.r.kindOf(t.job.Kind)
	if err != nil || exit.Known && exit.Code == 0 {
		return ""
	}
	return t.r.opts.Sandbox.Reached(turnLimits(k), exit.Code, exit.Signal, printed.Stderr)
}

// conversations is where those lie that were led in a sandbox. A job may go on in one of
// another job, on any node that shares the directory.
func (r *Runner) conversations() string { return filepath.Join(r.opts.Dir, "conversations") }

// configName is the CLI's configuration within a conversation's directory.
const configName = "config"

// conversationDir is where the CLI's configuration for a conversation lies, in a sandbox.
// Beside it stands which job leads the conversation: it goes with that job's record.
func (r *Runner) conversationDir(st *lifecycle.Turn) (string, error) {
	dir := filepath.Join(r.conversations(), st.Conversation)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	return filepath.Join(dir, configName), os.WriteFile(filepath.Join(dir, jobFile), []byte(st.Job.ID), 0o600)
}

// jobFile names the job that leads a conversation.
const jobFile = "job"

// removeConversations removes those whose jobs' records are gone.
func (r *Runner) removeConversations(ctx context.Context) {
	files, err := filepath.Glob(filepath.Join(r.conversations(), "*", jobFile))
	if err != nil {
		return
	}
	for _, file := range files {
		id, err := os.ReadFile(file)
		if err != nil || !r.forgotten(ctx, job.ID(id)) {
			continue
		}
		if err := os.RemoveAll(filepath.Dir(file)); err != nil {
			r.log.Warn("could not remove a conversation", "requestId", string(id), "error", err)
		}
	}
}
