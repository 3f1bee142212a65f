package store

import (
	"context"
	"fmt"
	"time"

	"ringback/internal/gz"
	"ringback/internal/job"
	"ringback/internal/lifecycle"
)

// SaveConversation stores the CLI's record of a conversation after a turn, replacing the earlier
// one, so that another machine can continue the conversation. It returns the compressed size in
// bytes. If that exceeds limit, nothing is stored, the earlier record is deleted, and kept is
// false.
func (s *Store) SaveConversation(ctx context.Context, id job.ID, conversation string, at lifecycle.TurnName, text []byte, limit int64) (size int64, kept bool, err error) {
	packed := gz.Pack(text)
	if size = int64(len(packed)); size > limit {
		return size, false, s.rdb.Del(ctx, PartitionOf(id).key("conversation", conversation)).Err()
	}
	// Another job may continue the conversation, so its key does not contain the job's ID.
	err = s.keep(ctx, id, "HSET", "conversation:"+conversation, int64(s.opts.Retention.Seconds()), "at", string(at), "text", packed)
	return size, err == nil, err
}

// Conversation returns what SaveConversation stored for a conversation of a job, or nil if that is
// not its state after the given turn. A record that unpacks to more than max bytes is an error.
func (s *Store) Conversation(ctx context.Context, id job.ID, conversation string, at lifecycle.TurnName, max int64) ([]byte, error) {
	kept, err := s.rdb.HMGet(ctx, PartitionOf(id).key("conversation", conversation), "at", "text").Result()
	if err != nil {
		return nil, err
	}
	packed, ok := kept[1].(string)
	if !ok || kept[0] != string(at) {
		return nil, nil
	}
	text, err := gz.Unpack([]byte(packed), max)
	if err != nil {
		return nil, fmt.Errorf("reading a conversation: %w", err)
	}
	return text, nil
}

// AddNote adds a line by the server to the transcript of a turn, before the CLI's output.
func (s *Store) AddNote(ctx context.Context, id job.ID, turn int, text string) error {
	return s.keep(ctx, id, "HSET", "notes:"+string(id), int64((s.opts.Retention + 24*time.Hour).Seconds()), itoa(turn), text)
}
