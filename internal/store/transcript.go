package store

import (
	"context"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"ringback/internal/job"
)

// TranscriptLimit is how much of what the CLI printed is kept per turn, in bytes.
const TranscriptLimit = 1 << 20

// WriteTranscript keeps a piece of what a turn printed, at its offset. Writing
// a piece again changes nothing; what lies beyond TranscriptLimit is dropped.
func (s *Store) WriteTranscript(ctx context.Context, id job.ID, turn int, offset int64, piece []byte) error {
	p, known := partitionOfID(id)
	room := TranscriptLimit - offset
	if !known || len(piece) == 0 || room <= 0 {
		return nil
	}
	key := p.key("transcript", string(id), itoa(turn))
	pipe := s.rdb.Pipeline()
	pipe.SetRange(ctx, key, offset, string(piece[:min(room, int64(len(piece)))]))
	// The record's purge removes it; this is for a record that never ends.
	pipe.Expire(ctx, key, s.opts.Retention+24*time.Hour)
	_, err := pipe.Exec(ctx)
	return storeError(err)
}

// Transcript returns what the CLI printed in all turns of a job, as far as it
// was kept.
func (s *Store) Transcript(ctx context.Context, j job.Job) (string, error) {
	p, known := partitionOfID(j.ID)
	if !known || j.Turn == 0 {
		return "", nil
	}
	pipe := s.rdb.Pipeline()
	turns := make([]*redis.StringCmd, j.Turn)
	for n := range turns {
		turns[n] = pipe.GetRange(ctx, p.key("transcript", string(j.ID), itoa(n+1)), 0, -1)
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return "", storeError(err)
	}
	var all strings.Builder
	for _, turn := range turns {
		all.WriteString(turn.Val())
	}
	return all.String(), nil
}
