package runner

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"time"

	"ringback/internal/job"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/sandbox/untrusted"
	"ringback/internal/turn/claude"
	"ringback/internal/turn/workspace"
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
	found := false
	err := r.repeatOwn(ctx, st.Job, "Bringing a conversation here", func() (err error) {
		found, err = r.findConversation(ctx, st)
		return err
	})
	if found || err != nil {
		return err
	}
	return r.startFresh(ctx, st)
}

// findConversation reports whether a turn's conversation is here, or could be brought here. If either is not
// known, it returns an error: a new conversation would lose what the other one has cost.
func (r *Runner) findConversation(ctx context.Context, st *lifecycle.Turn) (bool, error) {
	dir, err := r.conversationDir(st)
	if err != nil {
		return false, err
	}
	at, err := readNote(filepath.Join(r.conversations(), st.Conversation+atSuffix))
	isHere, has := lifecycle.TurnName(at) == st.ConversationAt, false
	if err == nil && isHere {
		has, err = claude.HasSession(r.keptIn(dir), st.Conversation)
	}
	if has || err != nil {
		return has, err
	}
	text, err := r.store.Transcripts.Conversation(ctx, st.Job.ID, st.Conversation, st.ConversationAt, claude.MaxSession)
	if job.HasKind(err, job.Unavailable) {
		return false, err
	}
	if err == nil && text != nil {
		err = claude.WriteSession(r.keptIn(dir), st.Conversation, claude.SignSession(text, string(st.Signature)))
		if err != nil && !untrusted.IsJobs(err) {
			return false, err
		}
	}
	switch {
	case err != nil:
		r.log.Warn("could not fetch a conversation from another node", "requestId", st.Job.ID, "turn", st.Job.Turn, "error", err)
	case text != nil:
		err := r.noteConversation(st.Conversation, st.ConversationAt)
		r.warnIf(err, "could not record the last turn of a conversation", "requestId", st.Job.ID, "turn", st.Job.Turn)
		turn := path.Base(string(st.ConversationAt))
		r.sayOfTurn(ctx, st.Job, "The conversation was brought here from another machine, as it was after turn "+turn+".")
		return true, nil
	}
	return isHere, nil // the CLI may store it at a path unknown to this version
}

// ownFor is the time for which this machine is given to recover if it lacks descriptors or disk, for example.
const ownFor = 3 * time.Second

// repeatOwn does something again that fails because of this machine.
func (r *Runner) repeatOwn(ctx context.Context, j job.Job, what string, do func() error) error {
	return workspace.RepeatOwn(ctx, r.log.With("requestId", j.ID, "turn", j.Turn), ownFor, what, do)
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
		"The conversation is on another machine, and no copy of it is kept: Claude begins a new one, and gets the chat so far.",
	)
	return nil
}

// sayOfTurn writes a message about a turn to the log and to its transcript.
func (r *Runner) sayOfTurn(ctx context.Context, j job.Job, text string) {
	r.log.Info(text, "requestId", j.ID, "turn", j.Turn)
	err := r.store.Transcripts.AddNote(ctx, j.ID, j.Turn, text)
	r.warnIf(err, "could not add to a transcript", "requestId", j.ID, "turn", j.Turn)
}

// keptIn returns the directory in which the CLI keeps a conversation; dir is the conversation's own.
func (r *Runner) keptIn(dir string) string {
	if r.opts.Sandbox.InForce() {
		return dir
	}
	return claude.UserConversations(claude.Environ(r.opts.Environ, 0))
}

// readNote returns the text of one of the node's small files; empty if there is none.
func readNote(file string) (string, error) {
	text, err := untrusted.ReadFile(file, maxNote)
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return string(text), err
}

func (r *Runner) noteConversation(conversation string, at lifecycle.TurnName) error {
	return untrusted.WriteFile(filepath.Join(r.conversations(), conversation+atSuffix), []byte(at))
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

// spoke records that the process of a turn has continued its conversation, and returns that; empty if the turn
// has none that can be moved.
func (r *Runner) spoke(ctx context.Context, j job.Job) (conversation string) {
	if j.Simulated {
		return ""
	}
	err := r.repeatOwn(ctx, j, "Recording a turn of a conversation", func() (err error) {
		if conversation, err = readNote(r.nodeDir.conversationFile(j.ID)); err != nil || conversation == "" {
			return err
		}
		return r.noteConversation(conversation, lifecycle.NameTurn(j.ID, j.Turn))
	})
	r.warnIf(err, "could not record a turn of a conversation", "requestId", j.ID, "turn", j.Turn)
	return conversation
}

// storeConversation copies the conversation of a turn after its process has ended into the
// store. If a conversation cannot be kept, a node that misses it starts a new one with its
// messages.
func (r *Runner) storeConversation(serving context.Context, j job.Job) {
	conversation := r.spoke(serving, j)
	if conversation == "" || r.opts.ConversationLimit == 0 || j.Kind == lifecycle.InterpretingKind { // no turn continues that
		return
	}
	text, err := claude.ReadSession(r.keptIn(filepath.Join(r.conversations(), conversation)), conversation)
	if errors.Is(err, fs.ErrNotExist) { // the CLI keeps none
		return
	}
	if err == nil {
		masked, ok := claude.MaskSession(text, func(text []byte) []byte { return mask(text, r.secrets) })
		if !ok {
			r.log.Info("conversation not copied: Claude's thinking contains a secret", "requestId", j.ID)
			return
		}
		err = r.saveConversation(serving, j, conversation, masked)
	}
	r.warnIf(err, "could not copy a conversation to the store", "requestId", j.ID, "turn", j.Turn)
}

func (r *Runner) saveConversation(serving context.Context, j job.Job, conversation string, text []byte) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(serving), storeTimeout)
	defer cancel()
	size, kept, err := r.store.Transcripts.SaveConversation(
		ctx, j, conversation, lifecycle.NameTurn(j.ID, j.Turn), text, int64(r.opts.ConversationLimit),
	)
	if err == nil && !kept {
		r.log.Info("conversation not copied: larger than CONVERSATION_LIMIT",
			"requestId", j.ID, "turn", j.Turn, "bytes", size, "limit", int64(r.opts.ConversationLimit))
	}
	return err
}
