package store

import (
	"context"
	"encoding/json"
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
	room := TranscriptLimit - offset
	if len(piece) == 0 || room <= 0 {
		return nil
	}
	p, err := locate(id)
	if err != nil {
		return err
	}
	key := p.key("transcript", string(id), itoa(turn))
	pipe := s.rdb.Pipeline()
	pipe.SetRange(ctx, key, offset, string(piece[:min(room, int64(len(piece)))]))
	// The record's purge removes it; this is for a record that never ends.
	pipe.Expire(ctx, key, s.opts.Retention+24*time.Hour)
	_, err = pipe.Exec(ctx)
	return storeError(err)
}

// StderrLimit is how much of what the CLI printed to standard error is kept per
// turn, in bytes: the end of it.
const StderrLimit = 64 << 10

// WriteStderr keeps what a turn has printed to standard error so far, in the place
// of what was kept before.
func (s *Store) WriteStderr(ctx context.Context, id job.ID, turn int, text []byte) error {
	p, err := locate(id)
	if err != nil {
		return err
	}
	return storeError(s.rdb.Set(ctx, p.key("stderr", string(id), itoa(turn)),
		text[max(0, len(text)-StderrLimit):], s.opts.Retention+24*time.Hour).Err())
}

// stderrLine is a line of standard error as it stands in a transcript, behind the
// lines of standard output of its turn.
type stderrLine struct {
	Type string `json:"type"` // stderr
	Turn int    `json:"turn"`
	Text string `json:"text"`
}

func stderrLines(turn int, text string) string {
	var lines strings.Builder
	for line := range strings.Lines(strings.ToValidUTF8(text, "\uFFFD")) {
		encoded, err := json.Marshal(stderrLine{"stderr", turn, strings.TrimRight(line, "\r\n")})
		if err == nil { // texts and numbers always are JSON
			lines.Write(append(encoded, '\n'))
		}
	}
	return lines.String()
}

// Transcript returns what the CLI printed in all turns of a job, as far as it
// was kept: lines of JSON, those of standard error marked as such.
func (s *Store) Transcript(ctx context.Context, j job.Job) (string, error) {
	if j.Turn == 0 {
		return "", nil
	}
	p, err := locate(j.ID)
	if err != nil {
		return "", err
	}
	pipe := s.rdb.Pipeline()
	turns, errors := make([]*redis.StringCmd, j.Turn), make([]*redis.StringCmd, j.Turn)
	for n := range turns {
		turns[n] = pipe.GetRange(ctx, p.key("transcript", string(j.ID), itoa(n+1)), 0, -1)
		errors[n] = pipe.GetRange(ctx, p.key("stderr", string(j.ID), itoa(n+1)), 0, -1)
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return "", storeError(err)
	}
	var all strings.Builder
	for n, turn := range turns {
		all.WriteString(turn.Val())
		if text := errors[n].Val(); text != "" {
			if printed := turn.Val(); printed != "" && !strings.HasSuffix(printed, "\n") {
				all.WriteByte('\n') // it was ended within a line
			}
			all.WriteString(stderrLines(n+1, text))
		}
	}
	return all.String(), nil
}
