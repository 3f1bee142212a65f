package store

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/redis/go-redis/v9"

	"ringback/internal/job"
)

// messageRest is a message's JSON behind its id and times, which the script adds.
// Before it stands a line that names the calls of tools in it, see add_message in
// lib.lua.
func messageRest(m job.MessageBody, userID, sessionID string) (string, error) {
	m.UserID, m.SessionID = userID, sessionID
	text, err := json.Marshal(m)
	if err != nil {
		return "", err
	}
	var calls struct {
		Calls [][]string `json:"calls"`
		Only  bool       `json:"only"`
	}
	for _, p := range m.Parts {
		switch p.Type {
		case job.ToolCallPart:
			calls.Calls = append(calls.Calls, []string{p.ToolCallID, p.ToolName})
		case job.ToolResultPart:
			calls.Calls = append(calls.Calls, []string{p.ToolCallID})
		case job.TextPart:
		}
	}
	if calls.Calls == nil {
		return string(text[1:]), nil
	}
	calls.Only = len(calls.Calls) == len(m.Parts)
	line, err := json.Marshal(calls)
	return string(line) + "\n" + string(text[1:]), err
}

// rememberSession notes whose session this is, for those who name a session
// without its user. Different users may use the same name: the sessions are
// different ones.
func (s *Store) rememberSession(ctx context.Context, sessionID, userID string) error {
	key := sessionIndex(sessionID)
	pipe := s.rdb.Pipeline()
	pipe.SAdd(ctx, key, userID)
	pipe.PExpire(ctx, key, 2*s.opts.Retention)
	_, err := pipe.Exec(ctx)
	return storeError(err)
}

func sessionIndex(sessionID string) string { return "rb:session:{" + sessionID + "}" }

// SessionUsers returns the users who have a session of this name.
func (s *Store) SessionUsers(ctx context.Context, sessionID string) ([]string, error) {
	users, err := s.rdb.SMembers(ctx, sessionIndex(sessionID)).Result()
	if err != nil || len(users) > 0 {
		return users, storeError(err)
	}
	// A session that the store named belongs to the user of its first job.
	random, ok := strings.CutPrefix(sessionID, "ses_")
	if p, known := partitionOfID(job.ID("req_" + random)); ok && known {
		user, err := s.rdb.HGet(ctx, p.key("job", "req_"+random), "user").Result()
		if err == nil {
			return []string{user}, nil
		}
		if !errors.Is(err, redis.Nil) {
			return nil, storeError(err)
		}
	}
	return nil, nil
}

// Messages returns up to limit messages of a session after the given id, oldest
// first, and the id of the session's latest message.
func (s *Store) Messages(ctx context.Context, userID, sessionID string, after int64, limit int) ([]job.Message, int64, error) {
	p, key := partitionOf(userID), sessionKey(userID, sessionID)
	last, err := s.rdb.HGet(ctx, p.key("session", key), "n").Int64()
	if errors.Is(err, redis.Nil) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, storeError(err)
	}
	var found []job.Message
	for after < last && len(found) < limit {
		fields := make([]string, 0, limit)
		for id := after + 1; id <= last && len(fields) < limit; id++ {
			fields = append(fields, itoa(int(id)))
		}
		texts, err := s.rdb.HMGet(ctx, p.key("messages", key), fields...).Result()
		if err != nil {
			return nil, 0, storeError(err)
		}
		for _, v := range texts {
			after++
			text, _ := v.(string)
			var m job.Message
			if json.Unmarshal([]byte(text), &m) == nil && len(found) < limit { // older ones are forgotten
				if m.UpdatedAt.IsZero() {
					m.UpdatedAt = m.CreatedAt
				}
				found = append(found, m)
			}
		}
	}
	return found, last, s.showAnswered(ctx, p, found)
}

// showAnswered takes awaiting_response back where a checkpoint no longer waits,
// and from its call what it was answered while it did.
func (s *Store) showAnswered(ctx context.Context, p Partition, messages []job.Message) error {
	pipe := s.rdb.Pipeline()
	statuses := map[int]*redis.StringCmd{}
	for i, m := range messages {
		if m.CheckpointID != "" {
			statuses[i] = pipe.HGet(ctx, p.key("checkpoint", string(m.CheckpointID)), "status")
		}
	}
	if len(statuses) == 0 {
		return nil
	}
	if _, err := pipe.Exec(ctx); err != nil && !errors.Is(err, redis.Nil) {
		return storeError(err)
	}
	for i, status := range statuses {
		if job.CheckpointStatus(status.Val()) == job.Open {
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

// Said is something that Claude said.
type Said struct {
	// End is where in the turn's output it ends.
	End  int64
	Body job.MessageBody
}

// Say adds what Claude said in a turn to the session of its job. Saying it again
// changes nothing.
func (s *Store) Say(ctx context.Context, j job.Job, said []Said) error {
	p, err := locate(j.ID)
	if err != nil {
		return err
	}
	args := []any{string(j.ID), j.Turn}
	for _, one := range said {
		one.Body.RequestID = j.ID
		rest, err := messageRest(one.Body, j.UserID, j.SessionID)
		if err != nil {
			return err
		}
		args = append(args, one.End, rest)
	}
	_, err = s.run(ctx, s.scripts.say, p, args...)
	return err
}

// Told is what became of a message that is no reply.
type Told string

// What may become of it.
const (
	ToldJob   Told = "told"      // the job's next turn is told
	Continues Told = "continues" // the latest job has ended: another follows it
	Stored    Told = "stored"    // nobody but readers of the session
)

// Tell adds a message to a session. With rouse, the session's latest job is
// told of it.
func (s *Store) Tell(ctx context.Context, userID, sessionID string, m job.MessageBody, rouse bool) (Told, int64, job.ID, error) {
	if err := s.rememberSession(ctx, sessionID, userID); err != nil {
		return "", 0, "", err
	}
	user, err := json.Marshal(userID)
	if err != nil {
		return "", 0, "", err
	}
	rest, err := messageRest(m, userID, sessionID)
	if err != nil {
		return "", 0, "", err
	}
	answer, err := s.run(ctx, s.scripts.tell, partitionOf(userID), userID, string(user), sessionID, rest,
		toMillis(s.opts.Retention), rouse, outsidePrefix, toMillis(s.opts.HumanTimeout))
	if err != nil {
		return "", 0, "", err
	}
	parts := stringsOf(answer)
	return Told(parts[0]), int64(atoi(parts[1])), job.ID(parts[2]), nil
}

// outsidePrefix begins the names of events that belong to no job of ours.
const outsidePrefix = "chat"
