package store

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"ringback/internal/job"
	"ringback/internal/rules/lifecycle"
)

// Remember records the user of a session that a back end uses, for back ends that name it
// without its user. Different users may use the same name for different sessions: one that only its
// user has named is not recorded, so that no user can take a name from the back ends. The user's own
// calls only keep the record that there is.
func (c Chats) Remember(ctx context.Context, sessionID, userID string, byBackEnd bool) error {
	key := sessionIndex(sessionID)
	pipe := c.s.rdb.Pipeline()
	if byBackEnd {
		pipe.SAdd(ctx, key, userID)
	}
	pipe.PExpire(ctx, key, 2*c.s.opts.Retention)
	_, err := pipe.Exec(ctx)
	return err
}

func sessionIndex(sessionID string) string { return "rb:session:{" + sessionID + "}" }

// Users returns the users with a session of this name that back ends can mean by it.
func (c Chats) Users(ctx context.Context, sessionID string) ([]string, error) {
	users, err := c.s.rdb.SMembers(ctx, sessionIndex(sessionID)).Result()
	id, ok := job.OfSession(sessionID)
	p, known := partitionOfID(id)
	if err != nil || !ok || !known {
		return users, err
	}
	// If the store generated the session's name, the session belongs to the user of its first job.
	user, err := c.s.rdb.HGet(ctx, p.key("job", string(id)), "user").Result()
	if err == nil && !slices.Contains(users, user) {
		users = append(users, user)
	}
	return users, ignoreNil(err)
}

// Messages returns up to limit messages of a session after the given ID, oldest first, and the ID
// of the session's latest message.
func (c Chats) Messages(ctx context.Context, userID, sessionID string, after int64, limit int) ([]job.Message, int64, error) {
	p, key := partitionOf(userID), sessionKey(userID, sessionID)
	last, err := c.s.rdb.HGet(ctx, p.key("session", key), "n").Int64()
	if err != nil {
		return nil, 0, ignoreNil(err)
	}
	var found []job.Message
	for after < last && len(found) < limit {
		fields := make([]string, 0, limit)
		for id := after + 1; id <= last && len(fields) < limit; id++ {
			fields = append(fields, itoa(int(id)))
		}
		pipe := c.s.rdb.Pipeline()
		texts := pipe.HMGet(ctx, p.key("messages", key), fields...)
		touched := pipe.HMGet(ctx, p.key("touched", key), fields...)
		if _, err := pipe.Exec(ctx); err != nil {
			return nil, 0, err
		}
		var read []job.Message
		for i, v := range texts.Val() {
			after++
			m, ok := decodeMessage(v, userID, sessionID, after)
			if !ok { // older ones are deleted
				continue
			}
			if at, ok := touched.Val()[i].(string); ok {
				readTouched(&m, at)
			}
			read = append(read, m)
		}
		if read, err = c.s.showCalls(ctx, p.key("touched", key), read); err != nil {
			return nil, 0, err
		}
		found = append(found, read[:min(len(read), limit-len(found))]...)
	}
	return found, last, c.s.showAnswered(ctx, p, found)
}

// Latest returns the job that receives the messages of a session; empty if it has none.
func (j Jobs) Latest(ctx context.Context, userID, sessionID string) (job.ID, error) {
	id, err := j.s.rdb.HGet(ctx, partitionOf(userID).key("session", sessionKey(userID, sessionID)), "job").Result()
	return job.ID(id), ignoreNil(err)
}

// showCalls shows each tool call once, in the last message that showed it and in its current state.
// A message that contained only calls which have moved is left out.
func (s *Store) showCalls(ctx context.Context, touched string, messages []job.Message) ([]job.Message, error) {
	var fields []string
	for _, m := range messages {
		for _, part := range m.Parts {
			if part.Type == job.ToolCallPart {
				fields = append(fields, callField(m.RequestID, part.ToolCallID))
			}
		}
	}
	if len(fields) == 0 {
		return messages, nil
	}
	values, err := s.rdb.HMGet(ctx, touched, fields...).Result()
	if err != nil {
		return nil, err
	}
	moves := map[string]string{}
	for i, field := range fields {
		moves[field], _ = values[i].(string)
	}
	shown := messages[:0]
	for _, m := range messages {
		parts := make([]job.Part, 0, len(m.Parts))
		for _, part := range m.Parts {
			at, state, moved := strings.Cut(moves[callField(m.RequestID, part.ToolCallID)], " ")
			if moved && part.Type == job.ToolCallPart {
				if at != itoa(int(m.ID)) {
					continue
				}
				part.State = job.PartState(state)
			}
			parts = append(parts, part)
		}
		if len(parts) > 0 || len(m.Parts) == 0 {
			m.Parts = parts
			shown = append(shown, m)
		}
	}
	return shown, nil
}

// callField returns the field that stores a call's move, in the same hash as the IDs of messages.
// It has the job, because its output names the call: one job must not move the calls of another.
func callField(id job.ID, call string) string { return "call:" + string(id) + ":" + call }

// callMoved returns the stored form of a call's move: "<message> <state>".
func callMoved(e lifecycle.MoveCall) string { return fmt.Sprintf("%d %s", e.Message, e.State) }

// origin is what is known about a message from where it is stored: in a session, or in an event.
type origin struct {
	userID, sessionID string
	requestID         job.ID
	createdAt         time.Time
}

// storedMessage is the stored form of a message. It leaves out what its origin says, and what follows from
// the other fields, as it does in most messages: more than half of their size.
type storedMessage struct {
	job.Message
	ID        int64     `json:"id,omitzero"`
	SessionID string    `json:"sessionId,omitzero"`
	UserID    string    `json:"userId,omitzero"`
	UpdatedAt time.Time `json:"updatedAt,omitzero"`
	// CreatedAt is zero, and RequestID nil, if they are those of its origin.
	CreatedAt time.Time `json:"createdAt,omitzero"`
	RequestID *job.ID   `json:"requestId,omitempty"`
	// Role is empty, and Parts and MessageType nil, if they are those of job.Text.
	Role        job.Sender       `json:"role,omitzero"`
	Parts       *[]job.Part      `json:"parts,omitempty"`
	MessageType *job.MessageType `json:"messageType,omitempty"`
}

// storedFormOf returns the stored form of a message that has not changed since it was written.
func storedFormOf(m job.Message, in origin) storedMessage {
	stored, usual := storedMessage{Message: m}, job.Text(m.Sender, m.Content)
	if !m.CreatedAt.Equal(in.createdAt) {
		stored.CreatedAt = m.CreatedAt
	}
	if m.RequestID != in.requestID {
		stored.RequestID = &m.RequestID
	}
	if m.Role != usual.Role {
		stored.Role = m.Role
	}
	if !reflect.DeepEqual(m.Parts, usual.Parts) {
		stored.Parts = &m.Parts
	}
	if m.MessageType != usual.MessageType {
		stored.MessageType = &m.MessageType
	}
	return stored
}

// message is the opposite of storedFormOf.
func (stored storedMessage) message(id int64, in origin) job.Message {
	m := stored.Message
	m.ID, m.SessionID, m.UserID = id, in.sessionID, in.userID
	m.CreatedAt, m.RequestID = in.createdAt, in.requestID
	if !stored.CreatedAt.IsZero() {
		m.CreatedAt = stored.CreatedAt
	}
	if stored.RequestID != nil {
		m.RequestID = *stored.RequestID
	}
	usual := job.Text(m.Sender, m.Content)
	m.UpdatedAt, m.Role, m.Parts, m.MessageType = m.CreatedAt, cmp.Or(stored.Role, usual.Role), usual.Parts, usual.MessageType
	if stored.Parts != nil {
		m.Parts = *stored.Parts
	}
	if stored.MessageType != nil {
		m.MessageType = *stored.MessageType
	}
	return m
}

func encodeMessage(m job.Message) string { return text(storedFormOf(m, origin{})) }

// decodeMessage parses a message of a session as it was written. ok is false if it no longer exists.
func decodeMessage(v any, userID, sessionID string, id int64) (m job.Message, ok bool) {
	text, _ := v.(string)
	var stored storedMessage
	if json.Unmarshal([]byte(text), &stored) != nil {
		return m, false
	}
	return stored.message(id, origin{userID: userID, sessionID: sessionID}), true
}

// showAnswered clears awaiting_response if a checkpoint no longer waits, and removes the output
// that its tool call had while it waited.
func (s *Store) showAnswered(ctx context.Context, p Partition, messages []job.Message) error {
	var asking []int
	for i, m := range messages {
		if m.CheckpointID != "" {
			asking = append(asking, i)
		}
	}
	statuses, err := readEach(ctx, s, asking, func(pipe redis.Pipeliner, i int) *redis.StringCmd {
		return pipe.HGet(ctx, p.key("checkpoint", string(messages[i].CheckpointID)), "status")
	})
	if err != nil {
		return err
	}
	for n, i := range asking {
		if job.CheckpointStatus(statuses[n]) == job.Open {
			continue
		}
		for k := range messages[i].Parts {
			if part := &messages[i].Parts[k]; part.Type == job.ToolCallPart {
				part.Output = nil
			}
		}
		var props map[string]json.RawMessage
		if err := json.Unmarshal(messages[i].Props, &props); err != nil || props == nil {
			continue
		}
		props["awaiting_response"] = json.RawMessage("false")
		text, err := json.Marshal(props)
		if err != nil {
			return err
		}
		messages[i].Props = text
	}
	return nil
}

// touchedText returns the stored form of a message's change: "<when>", or if Claude has read the
// message, "<when> <turn> <tool call>".
func touchedText(e lifecycle.TouchMessage) string {
	if e.Heard == nil {
		return score(e.Time)
	}
	return fmt.Sprintf("%s %d %d", score(e.Time), e.Heard.Turn, e.Heard.BeforeToolCall)
}

// readTouched parses what touchedText wrote.
func readTouched(m *job.Message, text string) {
	parts := strings.Fields(text)
	if len(parts) == 0 {
		return
	}
	m.UpdatedAt = millis(parts[0])
	if len(parts) == 3 {
		m.Hearing = &job.Hearing{Status: job.Heard, Turn: atoi(parts[1]), BeforeToolCall: atoi(parts[2]), At: m.UpdatedAt}
	}
}
