package runner

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"ringback/internal/job"
	"ringback/internal/job/limit"
	"ringback/internal/rules/kind"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/sandbox/door"
	"ringback/internal/sandbox/process"
	"ringback/internal/sandbox/untrusted"
	"ringback/internal/turn/claude"
	"ringback/internal/turn/model"
	"ringback/internal/turn/review"
)

// confine puts a turn's process into the sandbox, if there is one, with its working
// directory, its conversation, and the package caches of its job.
func (r *Runner) confine(
	ctx context.Context, d *process.Detached, k *kind.Kind, st *lifecycle.Turn, change *review.Change, files cliFiles,
) error {
	conversations, err := r.ownConversation(st)
	if err != nil {
		return err
	}
	d.Sandbox = r.opts.Sandbox
	masks, err := r.masks(ctx, d, k, st.Job.ID)
	if err != nil || !d.Sandbox.InForce() {
		return err
	}
	d.Access = process.Access{Writable: []string{d.Dir}, Texts: files.texts, Network: r.wayOut(st.Job, k), Masks: masks}
	switch {
	case change != nil:
		d.Access.Caches = change.Caches()
	case k.Policy.RunsPrograms(): // otherwise nothing fills a cache
		d.Access.Caches = filepath.Join(r.nodeDir.jobDir(st.Job.ID), "caches")
	}
	api, served := claude.APIOf(r.opts.Environ)
	if served {
		d.Env = api.Environ(d.Env, door.ModelURL)
	}
	if conversations == "" {
		return nil
	}
	config := claude.SandboxConfig{Environ: d.Env, Conversations: conversations, Login: !served}
	if d.Sandbox.OtherUser() {
		config.Copies = filepath.Join(r.nodeDir.jobDir(st.Job.ID), "copies")
	}
	env, err := config.Prepare(&d.Access)
	d.Env = append(d.Env, env...)
	return err
}

func (r *Runner) wayOut(j job.Job, k *kind.Kind) process.Network {
	var api door.Model
	if !j.Simulated && !isTrial(j.ID) {
		api = r.model(j, k)
	}
	return r.opts.Doors.OfTurn(j.ID, k.Policy.Network, api).Network
}

// model returns how a turn reaches the model's API. If the server has the credential, the
// turn sends its requests to the server; otherwise the CLI signs in and calls the API
// itself.
func (r *Runner) model(j job.Job, k *kind.Kind) (m door.Model) {
	api, served := claude.APIOf(r.opts.Environ)
	if !served {
		m.Hosts, m.Local = claude.ModelHosts(r.opts.Environ)
		return m
	}
	metered, answers := r.measure(j), &model.Answers{}
	r.uses.change(j.ID, func(u *apiUse) { u.answers = answers })
	m.ServeFunc = model.API{
		URL: api.URL, Header: api.Header, Transport: r.transport(), Answers: answers,
		AdmitFunc: metered.Admit, DeliveredFunc: r.recordDelivery(j),
		Fetch: k.Policy.Network.IsFull(), Search: k.Policy.Searches(), Log: r.log.With("requestId", j.ID, "turn", j.Turn),
	}.Serve
	if n := k.Policy.Network; api.Direct && len(n) > 0 && !n.IsNone() {
		m.Hosts = []string{claude.PreflightHost} // otherwise WebFetch reaches none of the kind's hosts
	}
	return m
}

// proxies reports whether turns send their requests to the model's API through this
// server.
func (r *Runner) proxies() bool {
	_, served := claude.APIOf(r.opts.Environ)
	return served && r.opts.Sandbox.InForce()
}

// doorsOf returns the doors with which a turn's sandbox was started: another start of the
// server reopens them when it adopts the turn.
func (r *Runner) doorsOf(j job.Job) []process.Door {
	if !r.opts.Sandbox.InForce() {
		return nil
	}
	k, err := r.kindOf(j)
	if err != nil { // enough to end what is left of it
		k = &kind.Kind{}
	}
	return r.wayOut(j, k).Doors
}

func (r *Runner) callbackBaseURL() string {
	if r.opts.Sandbox.InForce() {
		return door.CallbackURL
	}
	return r.opts.CallbackBaseURL
}

// ownConversation records the conversation of a turn's process, and returns the directory that
// keeps it, or "" if the turn is simulated.
func (r *Runner) ownConversation(st *lifecycle.Turn) (dir string, err error) {
	if st.Job.Simulated {
		return "", nil
	}
	if err := r.nodeDir.beginsConversation(st); err != nil {
		return "", err
	}
	return r.conversationDir(st)
}

func turnLimits(k *kind.Kind) limit.Limits { return k.Policy.Limits.AtLeast(limit.CLI) }

// reachedLimit describes the limit that the process of a job's turn has reached; "" for none.
func (r *Runner) reachedLimit(j job.Job, exit process.Exit, stderr string) string {
	k, err := r.kindOf(j)
	if err != nil || exit.Known && exit.Code == 0 {
		return ""
	}
	return r.opts.Sandbox.Reached(turnLimits(k), exit.Code, exit.Signal, stderr)
}

func (r *Runner) conversations() string { return conversationsIn(r.opts.Dir) }

// conversationsIn returns the part of a data directory with a directory for each conversation that is
// held in a sandbox, and files with facts about it. A job may continue the conversation of another
// job, on any node that shares the data directory.
func conversationsIn(dataDir string) string { return filepath.Join(dataDir, "conversations") }

// Suffixes of the files about a conversation. jobSuffix is that of its job's ID: the conversation is
// deleted with that job's record. atSuffix is that of the turn that wrote it.
const (
	jobSuffix = ".job"
	atSuffix  = ".turn"
)

// conversationDir returns the directory that keeps a turn's conversation in a sandbox, and records the
// conversation's job.
func (r *Runner) conversationDir(st *lifecycle.Turn) (string, error) {
	dir := filepath.Join(r.conversations(), st.Conversation)
	place := r.conversations() // someone may have removed it
	if r.opts.Sandbox.InForce() {
		place = dir
	}
	if err := os.MkdirAll(place, 0o700); err != nil {
		return "", err
	}
	return dir, untrusted.WriteFile(dir+jobSuffix, []byte(st.Job.ID))
}

func (r *Runner) removeConversations(ctx context.Context) {
	files, err := filepath.Glob(filepath.Join(r.conversations(), "*"+jobSuffix))
	if err != nil {
		return
	}
	for _, file := range files {
		id, err := untrusted.ReadFile(file, maxNote)
		if err != nil || len(id) == 0 || !r.forgotten(ctx, job.ID(id)) { // a turn may be writing it
			continue
		}
		err = r.removeConversation(strings.TrimSuffix(file, jobSuffix))
		r.warnIf(err, "could not remove a conversation", "requestId", string(id))
	}
}

func (r *Runner) removeConversation(dir string) error {
	return errors.Join(untrusted.Remove(dir), untrusted.Remove(dir+atSuffix), untrusted.Remove(dir+jobSuffix))
}

// maskedFile marks a job with a turn that runs in a sandbox, without access to what deny rules
// forbid. It is outside of the directories that the turn can write.
const maskedFile = "masked"

// masks returns what a turn may not access in its sandbox, and records whether there is one.
func (r *Runner) masks(
	ctx context.Context, d *process.Detached, k *kind.Kind, id job.ID,
) (masks process.Masks, err error) {
	note := filepath.Join(r.nodeDir.jobDir(id), maskedFile)
	if err := untrusted.Remove(note); err != nil {
		return masks, err
	}
	if !d.Sandbox.InForce() {
		return masks, nil
	}
	for _, dir := range []string{d.Dir, r.nodeDir.jobDir(id)} { // a simulated turn on repositories has made neither
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return masks, err
		}
	}
	masks, err = claude.MasksOfTurn(
		ctx, k.Policy.ToolRules(), d.Dir, process.Value(d.Env, "PATH"), r.nodeDir.jobDir(id),
	)
	if err != nil {
		return masks, err
	}
	if err := os.MkdirAll(filepath.Dir(note), 0o700); err != nil { // a workspace is elsewhere
		return masks, err
	}
	return masks, untrusted.WriteFile(note, nil)
}

// Masked reports whether the turn of a job on this node runs in a sandbox, without access to
// what deny rules forbid.
func (r *Runner) Masked(id job.ID) bool {
	_, err := os.Stat(filepath.Join(r.nodeDir.jobDir(id), maskedFile))
	return err == nil
}
