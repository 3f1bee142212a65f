package runner

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"ringback/internal/claude"
	"ringback/internal/job"
	"ringback/internal/lifecycle"
	"ringback/internal/untrusted"
)

// A conversation is in files of the CLI, on the machine that ran its latest turn. After
// each turn the node copies it into the store. Both versions are labelled with the turn
// that wrote them. The node that runs the next turn compares the labels, and takes the copy
// if its own files are older or missing.

// bringConversation makes sure that a turn continues the conversation as the previous turn
// left it: with this machine's files, or with the copy in the store. If neither is from
// that turn, a new conversation starts with the messages of the old one.
func (r *Runner) bringConversation(ctx context.Context, st *lifecycle.Turn) error {
	if !st.Begun || st.Job.Simulated || st.ConversationAt == "" {
		return nil
	}
	dir, err := r.conversationDir(st)
	if err != nil {
		return err
	}
	isHere := r.conversationAt(st.Conversation) == st.ConversationAt
	if isHere && claude.HasSession(r.keptIn(dir), st.Conversation) {
		return nil
	}
	text, err := r.store.Conversation(ctx, st.Job.ID, st.Conversation, st.ConversationAt, claude.MaxSession)
	if job.HasKind(err, job.Unavailable) {
		return err
	}
	if err == nil && text != nil {
		err = claude.WriteSession(r.keptIn(dir), st.Conversation, claude.SignSession(text, string(st.Signature)))
	}
	switch {
	case err != nil:
		r.log.Warn("could not bring a conversation here", "requestId", st.Job.ID, "turn", st.Job.Turn, "error", err)
	case text != nil:
		r.noteConversation(st.Conversation, st.ConversationAt)
		turn := path.Base(string(st.ConversationAt))
		r.sayOfTurn(ctx, st.Job, "The conversation was brought here from another machine, as it was after turn "+turn+".")
		return nil
	}
	if isHere { // the CLI may store it at a path unknown to this version
		return nil
	}
	return r.startFresh(ctx, st)
}

// startFresh starts a new conversation in place of one that is unavailable here.
func (r *Runner) startFresh(ctx context.Context, st *lifecycle.Turn) error {
	conversation, err := r.jobs.LeaveConversation(ctx, st.Job.ID, lifecycle.Holder{Turn: st.Job.Turn, Node: r.nodeDir.node})
	if err != nil {
		return err
	}
	if conversation == "" {
		return errJobEnded
	}
	st.Conversation, st.Begun, st.KnownAnswers, st.Retold = conversation, false, 0, true
	r.sayOfTurn(
		ctx, st.Job,
		"The conversation is on another machine, and no copy of it is kept: Claude begins a new one, and is told what was said so far.",
	)
	return nil
}

// sayOfTurn writes a message about a turn to the log and to its transcript.
func (r *Runner) sayOfTurn(ctx context.Context, j job.Job, text string) {
	r.log.Info(text, "requestId", j.ID, "turn", j.Turn)
	r.warnIf(r.store.AddNote(ctx, j.ID, j.Turn, text), "could not add to a transcript", "requestId", j.ID, "turn", j.Turn)
}

// keptIn returns the directory in which the CLI keeps a conversation; dir is the conversation's own.
func (r *Runner) keptIn(dir string) string {
	if r.opts.Sandbox.InForce() {
		return dir
	}
	return claude.UserConversations(claude.Environ(r.opts.Environ, 0))
}

// conversationAt returns the turn that wrote the local files of a conversation; empty if
// there are none.
func (r *Runner) conversationAt(conversation string) lifecycle.TurnName {
	at, err := untrusted.ReadFile(filepath.Join(r.conversations(), conversation+atSuffix), maxNote)
	if err != nil {
		return ""
	}
	return lifecycle.TurnName(at)
}

func (r *Runner) noteConversation(conversation string, at lifecycle.TurnName) {
	err := untrusted.WriteFile(filepath.Join(r.conversations(), conversation+atSuffix), []byte(at))
	r.warnIf(err, "could not note which turn a conversation has reached", "conversation", conversation)
}

// beginsConversation records the conversation of a turn's process, for the start that
// adopts it.
func (s *nodeDir) beginsConversation(st *lifecycle.Turn) error {
	if err := os.MkdirAll(s.jobDir(st.Job.ID), 0o700); err != nil {
		return err
	}
	return untrusted.WriteFile(s.conversationFile(st.Job.ID), []byte(st.Conversation))
}

func (s *nodeDir) conversationFile(id job.ID) string {
	return filepath.Join(s.jobDir(id), "conversation")
}

// spoke records that the process of a turn has continued its conversation.
func (r *Runner) spoke(j job.Job) {
	if conversation := r.conversationOf(j); conversation != "" {
		r.noteConversation(conversation, lifecycle.NameTurn(j.ID, j.Turn))
	}
}

// conversationOf returns the conversation of a turn that was started here; empty if it
// has none that can be moved.
func (r *Runner) conversationOf(j job.Job) string {
	if j.Simulated {
		return ""
	}
	conversation, err := untrusted.ReadFile(r.nodeDir.conversationFile(j.ID), maxNote)
	if err != nil {
		return ""
	}
	return string(conversation)
}

// storeConversation copies the conversation of a turn after its process has ended into the
// store. If a conversation cannot be kept, a node that misses it starts a new one with its
// messages.
func (r *Runner) storeConversation(serving context.Context, j job.Job) {
	conversation := r.conversationOf(j)
	if conversation == "" {
		return
	}
	r.spoke(j)
	if r.opts.ConversationLimit == 0 || j.Kind == lifecycle.InterpretingKind { // no turn continues that
		return
	}
	log := r.log.With("requestId", j.ID, "turn", j.Turn)
	text, err := claude.ReadSession(r.keptIn(filepath.Join(r.conversations(), conversation)), conversation)
	if errors.Is(err, fs.ErrNotExist) {
		log.Debug("there is no conversation to keep for other machines")
		return
	}
	masked, ok := []byte(nil), false
	if err == nil {
		masked, ok = claude.MaskSession(text, func(text []byte) []byte { return mask(text, r.secrets) })
	}
	if err == nil && !ok {
		log.Info("a conversation is not kept for other machines: Claude's thinking contains a secret")
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
	size, kept, err := r.store.SaveConversation(
		ctx, j, conversation, lifecycle.NameTurn(j.ID, j.Turn), text, int64(r.opts.ConversationLimit),
	)
	if err == nil && !kept {
		r.log.Info("a conversation is too large to be kept for other machines: see CONVERSATION_LIMIT",
			"requestId", j.ID, "turn", j.Turn, "bytes", size, "limit", int64(r.opts.ConversationLimit))
	}
	return err
}
