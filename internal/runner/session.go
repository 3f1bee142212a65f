package runner

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"ringback/internal/claude"
	"ringback/internal/job"
	"ringback/internal/lifecycle"
)

// A conversation lies in files of the CLI's, on the machine on which its latest turn ran.
// After each turn a copy goes into the store; whoever runs the next one compares the turns
// after which the two were so, and takes the copy where its own files are older or missing.

// atFile says, beside a conversation's files, after which turn they are so.
const atFile = "turn"

// bringConversation makes sure that a turn goes on with the conversation as the turn before
// left it: with that of this machine, with the copy in the store, or, where neither is of
// that turn, with a new conversation that is told the story of the one before.
func (r *Runner) bringConversation(ctx context.Context, st *lifecycle.Turn) error {
	if !st.Begun || st.Job.Simulated || st.ConversationAt == "" {
		return nil
	}
	dir, err := r.conversationDir(st)
	if err != nil {
		return err
	}
	isHere := r.conversationAt(st.Conversation) == st.ConversationAt
	if isHere && claude.HasSession(r.configDir(dir), st.Conversation) {
		return nil
	}
	text, err := r.store.Conversation(ctx, st.Job.ID, st.Conversation, st.ConversationAt, claude.MaxSession)
	if job.HasKind(err, job.Unavailable) {
		return err
	}
	if err == nil && text != nil {
		err = claude.WriteSession(r.configDir(dir), st.Conversation, claude.SignSession(text, string(st.Signature)))
	}
	switch {
	case err != nil:
		r.log.Warn("could not bring a conversation here", "requestId", st.Job.ID, "turn", st.Job.Turn, "error", err)
	case text != nil:
		r.noteConversation(st.Conversation, st.ConversationAt)
		r.sayOfTurn(ctx, st.Job, fmt.Sprintf("The conversation was brought here from another machine, as it was after turn %s.", turnOf(st.ConversationAt)))
		return nil
	}
	if isHere { // the CLI may keep it where this version does not look
		return nil
	}
	return r.tellAnew(ctx, st)
}

func turnOf(name lifecycle.TurnName) string {
	return string(name[strings.LastIndexByte(string(name), '/')+1:])
}

// tellAnew begins a new conversation in place of one that is not to be had here.
func (r *Runner) tellAnew(ctx context.Context, st *lifecycle.Turn) error {
	conversation, err := r.jobs.LeaveConversation(ctx, st.Job.ID, st.Job.Turn, r.nodeDir.node)
	if err != nil {
		return err
	}
	if conversation == "" {
		return errJobEnded
	}
	st.Conversation, st.Begun, st.Retold = conversation, false, true
	r.sayOfTurn(ctx, st.Job, "The conversation is on another machine, and no copy of it is kept: Claude begins a new one, and is told what was said so far.")
	return nil
}

// sayOfTurn says something of a turn where people look: in the log and in its transcript.
func (r *Runner) sayOfTurn(ctx context.Context, j job.Job, text string) {
	r.log.Info(text, "requestId", j.ID, "turn", j.Turn)
	if err := r.store.AddNote(ctx, j.ID, j.Turn, text); err != nil {
		r.log.Warn("could not add to a transcript", "requestId", j.ID, "turn", j.Turn, "error", err)
	}
}

// configDir is where the CLI has its configuration for a conversation whose own is dir.
func (r *Runner) configDir(dir string) string {
	if r.opts.Sandbox.InForce() {
		return dir
	}
	return claude.UserConfigDir(claude.Environ(r.opts.Environ, 0))
}

// conversationAt is after which turn a conversation is as it lies here; empty where it does
// not.
func (r *Runner) conversationAt(conversation string) lifecycle.TurnName {
	at, err := os.ReadFile(filepath.Join(r.conversations(), conversation, atFile))
	if err != nil {
		return ""
	}
	return lifecycle.TurnName(at)
}

func (r *Runner) noteConversation(conversation string, at lifecycle.TurnName) {
	if err := os.WriteFile(filepath.Join(r.conversations(), conversation, atFile), []byte(at), 0o600); err != nil {
		r.log.Warn("could not note which turn a conversation has reached", "conversation", conversation, "error", err)
	}
}

// beginsConversation remembers in which conversation a turn's process speaks, for whoever
// adopts it.
func (s *nodeDir) beginsConversation(st *lifecycle.Turn) error {
	if err := os.MkdirAll(s.jobDir(st.Job.ID), 0o700); err != nil {
		return err
	}
	return os.WriteFile(s.conversationFile(st.Job.ID), []byte(st.Conversation), 0o600)
}

func (s *nodeDir) conversationFile(id job.ID) string {
	return filepath.Join(s.jobDir(id), "conversation")
}

// spoke notes that the process of a turn has gone on with its conversation.
func (r *Runner) spoke(j job.Job) {
	if conversation := r.conversationOf(j); conversation != "" {
		r.noteConversation(conversation, lifecycle.NameTurn(j.ID, j.Turn))
	}
}

// conversationOf is the conversation of a turn that was started here; empty for none that
// can be moved.
func (r *Runner) conversationOf(j job.Job) string {
	if j.Simulated { // it is kept where the job works
		return ""
	}
	conversation, err := os.ReadFile(r.nodeDir.conversationFile(j.ID))
	if err != nil {
		return ""
	}
	return string(conversation)
}

// keepConversation copies the conversation of a turn whose process is gone into the store.
// What cannot be kept is told anew where it is missed.
func (r *Runner) keepConversation(serving context.Context, j job.Job) {
	conversation := r.conversationOf(j)
	if conversation == "" {
		return
	}
	r.spoke(j)
	if r.opts.ConversationLimit == 0 || j.Kind == lifecycle.InterpretingKind { // nobody goes on with that
		return
	}
	log := r.log.With("requestId", j.ID, "turn", j.Turn)
	text, err := claude.ReadSession(r.configDir(filepath.Join(r.conversations(), conversation, configName)), conversation)
	if errors.Is(err, fs.ErrNotExist) {
		log.Debug("there is no conversation to keep for other machines")
		return
	}
	masked, ok := []byte(nil), false
	if err == nil {
		masked, ok = claude.MaskSession(text, func(text []byte) []byte { return mask(text, r.secrets) })
	}
	if err == nil && !ok {
		log.Info("a conversation is not kept for other machines: a secret stands in Claude's thinking")
		return
	}
	if err == nil {
		err = r.saveConversation(serving, j, conversation, masked)
	}
	if err != nil {
		log.Warn("could not keep a conversation for other machines", "error", err)
	}
}

func (r *Runner) saveConversation(serving context.Context, j job.Job, conversation string, text []byte) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(serving), storeTimeout)
	defer cancel()
	size, kept, err := r.store.SaveConversation(ctx, j.ID, conversation, lifecycle.NameTurn(j.ID, j.Turn), text, int64(r.opts.ConversationLimit))
	if err == nil && !kept {
		r.log.Info("a conversation is too large to be kept for other machines: see CONVERSATION_LIMIT",
			"requestId", j.ID, "turn", j.Turn, "bytes", size, "limit", int64(r.opts.ConversationLimit))
	}
	return err
}
