package store

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/google/uuid"

	"ringback/internal/job"
)

// Turn is a turn that was given to a node to run.
type Turn struct {
	Job job.Job
	// Signature goes into the prompt; callbacks carry it.
	Signature Signature
	// Conversation is the id of the Claude conversation, a UUID.
	Conversation string
	// Begun is whether an earlier turn's process began the conversation, so that
	// this one can resume it.
	Begun bool
	// Note is what the turn before left for this one; nil for a first turn.
	Note *Note
	// Told is what the user has written since the last turn, in order.
	Told []job.Message
	// Answers are the checkpoints that a person has answered so far, in order.
	Answers []job.Checkpoint
}

// Note tells the next turn why it is needed.
type Note struct {
	// Reason is one of the Reason constants.
	Reason Reason `json:"reason"`
	// Detail is what the prompt repeats to Claude.
	Detail string `json:"detail,omitempty"`
}

// Reason is why Claude is rung again.
type Reason string

// The reasons.
const (
	Unfinished Reason = "unfinished" // the turn ended without a result
	Lost       Reason = "lost"       // the process was lost with its server
	Retried    Reason = "retried"    // a person asked for a retry
	Replied    Reason = "replied"    // a person answered a checkpoint
)

// Worker is who runs turns.
type Worker struct {
	Node string
	// Simulates is whether there is no CLI, so that the stand-in runs. Any job it
	// takes is simulated from then on.
	Simulates bool
}

// Claim takes the next pending job of a partition for a worker and makes it
// running; nil when nothing waits. Batch jobs are looked at first when
// batchFirst is set.
func (s *Store) Claim(ctx context.Context, p Partition, w Worker, batchFirst bool) (*Turn, error) {
	first, second := job.Interactive, job.Batch
	if batchFirst {
		first, second = second, first
	}
	fresh := newSecret()
	answer, err := s.run(ctx, s.scripts.claim, p, w.Node, s.opts.UserLimit, string(first), string(second), string(fresh), w.Simulates)
	if err != nil {
		return nil, err
	}
	parts := stringsOf(answer)
	if len(parts) < 3 {
		return nil, nil
	}
	told, rest := parts[3:3+atoi(parts[2])], pairs(parts[3+atoi(parts[2]):])
	t, err := decodeTurn(job.ID(parts[0]), Secret(parts[1]), rest)
	if err != nil {
		return nil, err
	}
	for _, text := range told {
		var m job.Message
		if json.Unmarshal([]byte(text), &m) == nil { // a message may be gone: its session keeps only so many
			t.Told = append(t.Told, m)
		}
	}
	return t, s.recordSignature(ctx, p, t, rest["signature"])
}

// recordSignature lets callbacks of a new secret in. The script cannot compute
// it; until it is recorded nobody knows the secret, and a node that dies here
// does it again with the next claim.
func (s *Store) recordSignature(ctx context.Context, p Partition, t *Turn, known string) error {
	digest := t.Signature.digest()
	if digest == known {
		return nil
	}
	return storeError(s.rdb.HSet(ctx, p.key("job", string(t.Job.ID)), "signature", digest).Err())
}

func decodeTurn(id job.ID, secret Secret, fields map[string]string) (*Turn, error) {
	j, err := decodeRecord(id, fields)
	if err != nil {
		return nil, err
	}
	root := id
	if fields["root"] != "" {
		root = job.ID(fields["root"])
	}
	t := &Turn{Job: j, Signature: secret.Sign(id), Conversation: conversationID(root, fields["conversation"]), Begun: fields["begun"] == "1"}
	if err := json.Unmarshal([]byte("["+fields["answers"]+"]"), &t.Answers); err != nil {
		return nil, fmt.Errorf("reading answers of %s: %w", id, err)
	}
	if fields["note"] != "" {
		t.Note = new(Note)
		if err := json.Unmarshal([]byte(fields["note"]), t.Note); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// conversationID names the nth conversation of a job. There is more than one
// when the CLI could not begin, or no longer finds, the one before.
func conversationID(id job.ID, n string) string {
	return uuid.NewSHA1(uuid.NameSpaceOID, []byte(string(id)+"/"+n)).String()
}

// Begin notes that the CLI has begun the job's conversation.
func (s *Store) Begin(ctx context.Context, id job.ID) error {
	return s.setFields(ctx, "job", id, "begun", "1")
}

// Extend sets a running turn's callback clock anew, to d from now; 0 means what
// the job allows each turn.
func (s *Store) Extend(ctx context.Context, id job.ID, d time.Duration) error {
	ms := ""
	if d > 0 {
		ms = toMillis(d)
	}
	_, err := s.runJob(ctx, s.scripts.extend, id, ms)
	return err
}

// TurnEnd says how a turn's process ended.
type TurnEnd struct {
	ID   job.ID
	Turn int
	Node string
	// Usage is what the process used, but CostUSD is what the conversation cost so
	// far, earlier processes included: so the CLI counts.
	Usage job.Usage
	// Begun is whether the CLI began or resumed the conversation; if not, the next
	// turn begins a new one.
	Begun bool
	// Code and Message are used when the job has no result yet.
	Code    job.Code
	Message string
	// Again is whether another attempt may help. The first is made after Backoff,
	// each further one after twice the delay.
	Again   bool
	Backoff time.Duration
	// Note goes to the next attempt.
	Note Note
}

// EndTurn books the end of a turn's process and gives the worker back. A job
// that is still running is rung again, or fails after its last attempt. It
// returns the job's state; "" when the turn was no longer the node's.
func (s *Store) EndTurn(ctx context.Context, e TurnEnd) (job.State, error) {
	note, err := json.Marshal(e.Note)
	if err != nil {
		return "", err
	}
	answer, err := s.runJob(ctx, s.scripts.turnEnd, e.ID, e.Turn, e.Node,
		e.Usage.InputTokens, e.Usage.OutputTokens, e.Usage.CostUSD,
		string(e.Code), e.Message, e.Again, toMillis(e.Backoff), string(note), e.Begun)
	if err != nil {
		return "", err
	}
	return job.State(answer.(string)), nil
}

// End ends a job as cancelled, rejected or failed. It returns a Conflict error
// when the job has ended already. turn 0 means whatever turn the job is in; the
// end of another turn than the job's is ignored.
func (s *Store) End(ctx context.Context, id job.ID, state job.State, code job.Code, message string, turn int) error {
	about := ""
	if turn > 0 {
		about = itoa(turn)
	}
	answer, err := s.runJob(ctx, s.scripts.end, id, string(state), string(code), message, about)
	if err != nil {
		return err
	}
	switch answer {
	case "ok", "stale":
		return nil
	case "unknown":
		return NotFound(id)
	}
	return job.Errorf(job.Conflict, "The job is already %v", answer).
		WithHint("Only a job that has not ended can end now.")
}

// Retry starts an expired, failed or cancelled job again, unless another goes on
// with its conversation.
func (s *Store) Retry(ctx context.Context, id job.ID) error {
	note, err := json.Marshal(Note{Reason: Retried})
	if err != nil {
		return err
	}
	answer, err := s.runJob(ctx, s.scripts.retry, id, string(note))
	if err != nil {
		return err
	}
	switch parts := stringsOf(answer); parts[0] {
	case "ok":
		return nil
	case "unknown":
		return NotFound(id)
	case "continued":
		return job.Errorf(job.Conflict, "The job %s goes on with the conversation", parts[1]).
			WithHint("Let it end or cancel it first, or write in the chat.")
	default:
		return job.Errorf(job.Conflict, "The job is %s", parts[0]).
			WithHint("Only an expired, failed or cancelled job can be retried.")
	}
}

func stringsOf(answer any) []string {
	list, _ := answer.([]any)
	texts := make([]string, len(list))
	for i, v := range list {
		texts[i], _ = v.(string)
	}
	return texts
}

func pairs(flat []string) map[string]string {
	m := make(map[string]string, len(flat)/2)
	for i := 0; i+1 < len(flat); i += 2 {
		m[flat[i]] = flat[i+1]
	}
	return m
}
