package store

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"ringback/internal/job"
)

// Question is a checkpoint to be put to a person.
type Question struct {
	// RequestID is the job that asks; empty for none of ours.
	RequestID job.ID
	// UserID and SessionID say whom it is put to.
	UserID    string
	SessionID string
	Type      job.CheckpointType
	Message   string
	Props     json.RawMessage
	// Chat is how it reads in the session; the checkpoint's id is added.
	Chat job.MessageBody
	// Digest recognises the question when the call is repeated.
	Digest string
	// Hold is how long the call waits for the reply.
	Hold time.Duration
	// Subject is what an approval would be for, with its input; empty for nothing.
	Subject string
	// Deed is the same for the audit log.
	Deed job.Deed
	// Call is its id as a tool call in the chat.
	Call string
	// MaxIterations is how often the change under review may be steered: a steer
	// that waits answers the review at once. 0: none does.
	MaxIterations int
}

// checkpointHead is the part of a checkpoint's JSON that never changes.
type checkpointHead struct {
	ID        job.CheckpointID   `json:"id"`
	Type      job.CheckpointType `json:"type"`
	Message   string             `json:"message"`
	Props     json.RawMessage    `json:"props"`
	RequestID job.ID             `json:"requestId,omitempty"`
	SessionID string             `json:"sessionId"`
	UserID    string             `json:"userId"`
}

// texts are the checkpoint's head, open to be continued, and its message.
func (q Question) texts(id job.CheckpointID) (head, message string, err error) {
	if len(q.Props) == 0 {
		q.Props = json.RawMessage("{}")
	}
	text, err := json.Marshal(checkpointHead{id, q.Type, q.Message, q.Props, q.RequestID, q.SessionID, q.UserID})
	if err != nil {
		return "", "", err
	}
	q.Chat.CheckpointID, q.Chat.RequestID = id, q.RequestID
	message, err = messageRest(q.Chat, q.UserID, q.SessionID)
	return strings.TrimSuffix(string(text), "}"), message, err
}

// The outcomes of Ask, beside Unknown and the job's state.
const (
	Asked Outcome = "asked"
	Busy  Outcome = "busy" // another checkpoint of the job is open
)

// Ask puts a question to a person. For a job of ours the outcome may be
// Repeated, Busy or Unknown, or the state that does not allow it.
func (s *Store) Ask(ctx context.Context, q Question) (Outcome, job.CheckpointID, int64, error) {
	p := partitionOf(q.UserID)
	id := newCheckpointID(p)
	head, message, err := q.texts(id)
	if err != nil {
		return "", "", 0, err
	}
	args := []any{string(id), string(q.Type), head, message, toMillis(s.opts.HumanTimeout), string(q.RequestID)}
	about, err := members(q.Deed)
	if err != nil {
		return "", "", 0, err
	}
	if q.RequestID != "" {
		args = append(args, string(q.Type.State()), q.Digest, toMillis(q.Hold), "", "")
	} else {
		if err := s.rememberSession(ctx, q.SessionID, q.UserID); err != nil {
			return "", "", 0, err
		}
		user, err := json.Marshal(q.UserID)
		if err != nil {
			return "", "", 0, err
		}
		args = append(args, q.UserID, string(user), q.SessionID, outsidePrefix, toMillis(s.opts.Retention))
	}
	steers, note := "", ""
	if q.MaxIterations > 0 {
		steers = strconv.Itoa(q.MaxIterations)
		if note, err = replied(); err != nil {
			return "", "", 0, err
		}
	}
	args = append(args, q.Subject, about, q.Call, steers, note)
	answer, err := s.run(ctx, s.scripts.ask, p, args...)
	if err != nil {
		return "", "", 0, err
	}
	parts := stringsOf(answer)
	if len(parts) < 3 {
		return Outcome(parts[0]), "", 0, nil
	}
	return Outcome(parts[0]), job.CheckpointID(parts[1]), int64(atoi(parts[2])), nil
}

// Answer is a reply on its way into the store.
type Answer struct {
	// To is Answered, Clarified or Reading.
	To    job.CheckpointStatus
	Reply job.Reply
	// Message is what the person wrote, for the session; nil when it was added
	// before.
	Message *job.MessageBody
	// End ends the job instead of going on with it, with Code and Why.
	End  job.State
	Code job.Code
	Why  string
	// Again asks again, for Clarified.
	Again *Question
	// By is who replied.
	By job.Actor
	// Approval is how far a yes goes.
	Approval Approval
	// Exchange is what was said since the question was first put, this reply and
	// what is asked back included; it is kept as long as there is no answer.
	Exchange []job.Utterance
}

// Approval is how far a yes goes.
type Approval struct {
	Scope job.ApprovalScope
	// TTL is how long it may be used.
	TTL time.Duration
	// Standing is kept where it goes further than once; its ID is empty else.
	Standing job.Approval
}

// members is a value as JSON members, to be added to an object behind others.
func members(v any) (string, error) {
	text, err := json.Marshal(v)
	if err != nil || string(text) == "{}" {
		return "", err
	}
	return "," + string(text[1:len(text)-1]), nil
}

// Reply stores a person's reply to a checkpoint as it was read. It returns the
// person's message; or a Conflict error when another reply, or the end of the
// question, came first: then the checkpoint has changed.
func (s *Store) Reply(ctx context.Context, c job.Checkpoint, a Answer) (int64, error) {
	p, known := partitionOfCheckpoint(c.ID)
	if !known {
		return 0, NoCheckpoint(c.ID)
	}
	args, err := a.args(p, c)
	if err != nil {
		return 0, err
	}
	answer, err := s.run(ctx, s.scripts.reply, p, args...)
	if err != nil {
		return 0, err
	}
	parts := stringsOf(answer)
	switch parts[0] {
	case "ok":
		return int64(atoi(parts[1])), nil
	case "unknown":
		return 0, NoCheckpoint(c.ID)
	}
	return 0, Closed(c.ID, job.CheckpointStatus(parts[1]))
}

func (a Answer) args(p Partition, c job.Checkpoint) ([]any, error) {
	reply, err := json.Marshal(a.Reply)
	if err != nil {
		return nil, err
	}
	note, err := replied()
	if err != nil {
		return nil, err
	}
	audit, err := auditMembers(a.Reply)
	if err != nil {
		return nil, err
	}
	var message, againID, againHead, againMessage string
	if a.Message != nil {
		a.Message.RequestID = c.RequestID
		if message, err = messageRest(*a.Message, c.UserID, c.SessionID); err != nil {
			return nil, err
		}
	}
	if a.Again != nil {
		id := newCheckpointID(p)
		againID = string(id)
		if againHead, againMessage, err = a.Again.texts(id); err != nil {
			return nil, err
		}
	}
	by, err := json.Marshal(a.By)
	if err != nil {
		return nil, err
	}
	exchange := []byte{}
	if len(a.Exchange) > 0 {
		if exchange, err = json.Marshal(a.Exchange); err != nil {
			return nil, err
		}
	}
	standing, err := json.Marshal(a.Approval.Standing)
	if err != nil {
		return nil, err
	}
	return []any{
		string(c.ID), string(a.To), string(c.Status), strings.TrimSuffix(string(reply), "}"), message,
		string(a.End), string(a.Code), a.Why, againID, againHead, againMessage, note, string(a.Reply.Decision),
		string(by), toMillis(a.Approval.TTL), string(a.Approval.Scope), a.Approval.Standing.ID, string(standing),
		c.Round, string(exchange), audit,
	}, nil
}

// replied is the note for a turn that a person's reply starts.
func replied() (string, error) {
	text, err := json.Marshal(Note{Reason: Replied})
	return string(text), err
}

// NoCheckpoint is the error for a checkpoint that does not exist.
func NoCheckpoint(id job.CheckpointID) error {
	return job.Errorf(job.NotFound, "No checkpoint has the id %q", string(id)).
		WithHint("GET /api/checkpoints?status=open lists those that wait for a reply.")
}

// Closed is the error for a reply to a checkpoint that no longer waits.
func Closed(id job.CheckpointID, status job.CheckpointStatus) error {
	why := map[job.CheckpointStatus]string{
		job.Answered:  "It was already answered: the first reply stands.",
		job.Clarified: "It was asked again in other words: answer the newer checkpoint.",
		job.Reading:   "Another reply came at the same moment.",
		job.Open:      "Another reply came at the same moment.",
		job.Lapsed:    "Nobody answered in time.",
		job.Withdrawn: "Its job has ended.",
	}[status]
	return job.Errorf(job.Conflict, "The checkpoint %s is %s", id, status).WithHint("%s", why)
}

// Checkpoint returns a checkpoint, or a NotFound error.
func (s *Store) Checkpoint(ctx context.Context, id job.CheckpointID) (job.Checkpoint, error) {
	found, err := s.checkpoints(ctx, []job.CheckpointID{id})
	if err != nil {
		return job.Checkpoint{}, err
	}
	if len(found) == 0 {
		return job.Checkpoint{}, NoCheckpoint(id)
	}
	return found[0], nil
}

// checkpoints reads those of the given ids that exist.
func (s *Store) checkpoints(ctx context.Context, ids []job.CheckpointID) ([]job.Checkpoint, error) {
	pipe := s.rdb.Pipeline()
	reads := make([]*redis.MapStringStringCmd, 0, len(ids))
	for _, id := range ids {
		if p, known := partitionOfCheckpoint(id); known {
			reads = append(reads, pipe.HGetAll(ctx, p.key("checkpoint", string(id))))
		}
	}
	if len(reads) == 0 {
		return nil, nil
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return nil, storeError(err)
	}
	found := make([]job.Checkpoint, 0, len(reads))
	for _, read := range reads {
		if len(read.Val()) == 0 {
			continue
		}
		c, err := decodeCheckpoint(read.Val())
		if err != nil {
			return nil, err
		}
		found = append(found, c)
	}
	return found, nil
}

func decodeCheckpoint(h map[string]string) (job.Checkpoint, error) {
	var c job.Checkpoint
	if err := json.Unmarshal([]byte(h["head"]+"}"), &c); err != nil {
		return c, fmt.Errorf("reading a checkpoint: %w", err)
	}
	c.Status, c.MessageID, c.Held = job.CheckpointStatus(h["status"]), int64(atoi(h["message"])), h["held"] == "1"
	c.CreatedAt, c.AnsweredAt, c.Next = millis(h["created"]), millis(h["answered"]), job.CheckpointID(h["next"])
	c.ToolCallID, c.Round = h["call"], atoi(h["round"])
	if h["exchange"] != "" {
		if err := json.Unmarshal([]byte(h["exchange"]), &c.Exchange); err != nil {
			return c, fmt.Errorf("reading what was said to %s: %w", c.ID, err)
		}
	}
	if h["reply"] != "" {
		if err := json.Unmarshal([]byte(h["reply"]), &c.Reply); err != nil {
			return c, fmt.Errorf("reading the reply to %s: %w", c.ID, err)
		}
	}
	return c, nil
}

// withCheckpoints fills in the checkpoints that jobs wait at.
func (s *Store) withCheckpoints(ctx context.Context, jobs []*job.Job) error {
	var ids []job.CheckpointID
	for _, j := range jobs {
		if j.Checkpoint != nil {
			ids = append(ids, j.Checkpoint.ID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	found, err := s.checkpoints(ctx, ids)
	if err != nil {
		return err
	}
	byID := make(map[job.CheckpointID]*job.Checkpoint, len(found))
	for i := range found {
		byID[found[i].ID] = &found[i]
	}
	for _, j := range jobs {
		if j.Checkpoint != nil {
			j.Checkpoint = byID[j.Checkpoint.ID]
		}
	}
	return nil
}

// Park notes that the call which asked no longer waits, unless the reply came
// at that very moment. It returns the checkpoint's status.
func (s *Store) Park(ctx context.Context, id job.ID, c job.CheckpointID) (job.CheckpointStatus, error) {
	answer, err := s.runJob(ctx, s.scripts.park, id, string(c))
	if err != nil {
		return "", err
	}
	return job.CheckpointStatus(answer.(string)), nil
}

// Delivered notes that Claude was given the answer to its question.
func (s *Store) Delivered(ctx context.Context, id job.ID, c job.CheckpointID) error {
	_, err := s.runJob(ctx, s.scripts.delivered, id, string(c))
	return err
}

// OpenIn returns the checkpoints of a session that still take a reply, latest
// first.
func (s *Store) OpenIn(ctx context.Context, userID, sessionID string) ([]job.Checkpoint, error) {
	p := partitionOf(userID)
	ids, err := s.rdb.ZRevRange(ctx, p.key("asking", sessionKey(userID, sessionID)), 0, 99).Result()
	if err != nil {
		return nil, storeError(err)
	}
	return s.checkpoints(ctx, checkpointIDs(ids))
}

func checkpointIDs(texts []string) []job.CheckpointID {
	ids := make([]job.CheckpointID, len(texts))
	for i, text := range texts {
		ids[i] = job.CheckpointID(text)
	}
	return ids
}

// CheckpointQuery selects checkpoints. Empty fields select all.
type CheckpointQuery struct {
	UserID string
	Status job.CheckpointStatus
	Type   job.CheckpointType
	// IDs selects by the beginning of the id, in one page; zero: all.
	IDs job.IDPrefix
	// Limit is the most to return.
	Limit int
	// Cursor is where the page before ended; empty for the first page.
	Cursor string
}

// selects reports whether a checkpoint is among those asked for.
func (q CheckpointQuery) selects(c job.Checkpoint) bool {
	return (q.Status == "" || c.Status == q.Status) && (q.Type == "" || c.Type == q.Type) && (q.UserID == "" || c.UserID == q.UserID)
}

// Checkpoints returns checkpoints, newest first, and the cursor of the next
// page, empty after the last one.
func (s *Store) Checkpoints(ctx context.Context, q CheckpointQuery) ([]job.Checkpoint, string, error) {
	before, err := parseCursor(q.Cursor)
	if err != nil {
		return nil, "", err
	}
	if q.IDs != (job.IDPrefix{}) {
		found, err := s.checkpointsLike(ctx, q)
		return found, "", err
	}
	index := "checkpoints"
	if q.Status == job.Open {
		index = "open"
	}
	found := []job.Checkpoint{}
	for {
		page, err := s.page(ctx, index, q.UserID, before, q.Limit+1)
		if err != nil {
			return nil, "", err
		}
		ids := make([]job.CheckpointID, len(page))
		for i, at := range page {
			ids[i] = job.CheckpointID(at.id)
		}
		read, err := s.checkpoints(ctx, ids)
		if err != nil {
			return nil, "", err
		}
		for _, c := range read {
			if !q.selects(c) {
				continue
			}
			if len(found) == q.Limit {
				last := found[len(found)-1]
				return found, place{last.CreatedAt.UnixMilli(), string(last.ID)}.cursor(), nil
			}
			found = append(found, c)
		}
		if len(page) <= q.Limit {
			return found, "", nil
		}
		before = page[len(page)-1]
	}
}
