package store

import (
	"context"
	"fmt"
	"time"

	"ringback/internal/job"
	"ringback/internal/lifecycle"
)

// SaveConversation keeps the CLI's record of a conversation, as it is after a turn, in the
// place of what was kept before: another machine goes on with it. It returns how many bytes
// that takes; kept is false where they are more than limit, and nothing is kept.
func (s *Store) SaveConversation(ctx context.Context, id job.ID, conversation string, at lifecycle.TurnName, text []byte, limit int64) (size int64, kept bool, err error) {
	p, err := locate(id)
	if err != nil {
		return 0, false, err
	}
	packed := pack(text)
	key, size := p.key("conversation", conversation), int64(len(packed))
	if size > limit {
		return size, false, storeError(s.rdb.Del(ctx, key).Err())
	}
	// A job may be gone on with in another one's conversation, so it is not of the job's keys.
	err = s.keep(ctx, id, "HSET", "conversation:"+conversation, int64(s.opts.Retention.Seconds()), "at", string(at), "text", packed)
	return size, err == nil, err
}

// Conversation returns what SaveConversation kept of a conversation of a job; nil where that
// is not how the conversation was after the given turn. No more than max bytes are believed.
func (s *Store) Conversation(ctx context.Context, id job.ID, conversation string, at lifecycle.TurnName, max int64) ([]byte, error) {
	p, err := locate(id)
	if err != nil {
		return nil, err
	}
	kept, err := s.rdb.HMGet(ctx, p.key("conversation", conversation), "at", "text").Result()
	if err != nil {
		return nil, storeError(err)
	}
	packed, ok := kept[1].(string)
	if !ok || kept[0] != string(at) {
		return nil, nil
	}
	text, err := unpack([]byte(packed), max)
	if err != nil {
		return nil, fmt.Errorf("reading a conversation: %w", err)
	}
	return text, nil
}

// AddNote adds a line of the server's own to the transcript of a turn, ahead of what the CLI
// prints in it.
func (s *Store) AddNote(ctx context.Context, id job.ID, turn int, text string) error {
	return s.keep(ctx, id, "HSET", "notes:"+string(id), int64((s.opts.Retention + 24*time.Hour).Seconds()), itoa(turn), text)
}
