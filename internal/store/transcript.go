package store

import (
	"context"
	"encoding/json"
	"fmt"
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
	return s.keepOutput(ctx, "SETRANGE", "transcript", id, turn, offset, piece[:min(room, int64(len(piece)))])
}

// PackTranscript compresses what a turn has printed that has ended, and of which no piece is
// written any more: JSON of a conversation takes a fifth, and what was written piece by piece
// has room for more.
func (s *Store) PackTranscript(ctx context.Context, id job.ID, turn int) error {
	p, err := locate(id)
	if err != nil {
		return err
	}
	text, err := s.rdb.GetRange(ctx, p.key("transcript", string(id), itoa(turn)), 0, -1).Result()
	if err != nil {
		return storeError(err)
	}
	if text == "" || isPacked(text) {
		return nil
	}
	return s.keepOutput(ctx, "SET", "transcript", id, turn, pack([]byte(text)))
}

// isPacked tells what pack has made from lines of JSON.
func isPacked(text string) bool { return strings.HasPrefix(text, "\x1f\x8b") }

// keepOutput writes what a turn has printed. The record's purge removes it; that it goes
// by itself a day later is for a record that never ends.
func (s *Store) keepOutput(ctx context.Context, command, name string, id job.ID, turn int, args ...any) error {
	seconds := int64((s.opts.Retention + 24*time.Hour).Seconds())
	return s.keep(ctx, id, command, name+":"+string(id)+":"+itoa(turn), seconds, args...)
}

// StderrLimit is how much of what the CLI printed to standard error is kept per
// turn, in bytes: the end of it.
const StderrLimit = 64 << 10

// WriteStderr keeps what a turn has printed to standard error so far, in the place
// of what was kept before.
func (s *Store) WriteStderr(ctx context.Context, id job.ID, turn int, text []byte) error {
	return s.keepOutput(ctx, "SET", "stderr", id, turn, text[max(0, len(text)-StderrLimit):])
}

// added is a line that stands in a transcript beside those of standard output: one of
// standard error, behind them, or one of the server's own, ahead of them.
type added struct {
	Type string `json:"type"` // stderr or ringback
	Turn int    `json:"turn"`
	Text string `json:"text"`
}

func stderrLines(turn int, text string) string {
	var lines strings.Builder
	for line := range strings.Lines(strings.ToValidUTF8(text, "\uFFFD")) {
		lines.WriteString(addedLine("stderr", turn, strings.TrimRight(line, "\r\n")))
	}
	return lines.String()
}

func addedLine(kind string, turn int, line string) string {
	encoded, err := json.Marshal(added{kind, turn, line})
	if err != nil {
		return "" // texts and numbers always are JSON
	}
	return string(encoded) + "\n"
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
	notes := pipe.HGetAll(ctx, p.key("notes", string(j.ID)))
	turns, errors := make([]*redis.StringCmd, j.Turn), make([]*redis.StringCmd, j.Turn)
	for n := range turns {
		turns[n] = pipe.GetRange(ctx, p.key("transcript", string(j.ID), itoa(n+1)), 0, -1)
		errors[n] = pipe.GetRange(ctx, p.key("stderr", string(j.ID), itoa(n+1)), 0, -1)
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return "", storeError(err)
	}
	var all strings.Builder
	for n := range turns {
		printed, err := printedIn(turns[n].Val())
		if err != nil {
			return "", err
		}
		if note := notes.Val()[itoa(n+1)]; note != "" {
			all.WriteString(addedLine("ringback", n+1, note))
		}
		all.WriteString(printed)
		if text := errors[n].Val(); text != "" {
			if printed != "" && !strings.HasSuffix(printed, "\n") {
				all.WriteByte('\n') // it was ended within a line
			}
			all.WriteString(stderrLines(n+1, text))
		}
	}
	return all.String(), nil
}

// printedIn is what a turn has printed, by what is stored of it.
func printedIn(stored string) (string, error) {
	if !isPacked(stored) {
		return stored, nil
	}
	text, err := unpack([]byte(stored), TranscriptLimit)
	if err != nil {
		return "", fmt.Errorf("reading what a turn has printed: %w", err)
	}
	return string(text), nil
}
