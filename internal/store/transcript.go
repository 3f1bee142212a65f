package store

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/redis/go-redis/v9"

	"ringback/internal/job"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/text/gz"
)

// TranscriptLimit is the maximum number of bytes of CLI output kept per turn. The line that reports that there was
// more has at most maxAdded.
const (
	TranscriptLimit = 1 << 20
	maxAdded        = 1 << 10
)

// KeptOutput returns how many bytes of a turn's output are kept: of what the CLI prints, and of its messages in the
// chat. Later turns of a job have less, so that a job with very many cannot fill the store.
func KeptOutput(turn int) int64 {
	const longTurns = 16
	if turn > longTurns {
		return TranscriptLimit / 8
	}
	return TranscriptLimit
}

// Write stores a piece of a turn's output at its offset. It is idempotent. Output beyond
// KeptOutput is dropped, which a line at the end of the rest reports.
func (t Transcripts) Write(ctx context.Context, id job.ID, turn int, offset int64, piece []byte) error {
	most := KeptOutput(turn)
	room := most - offset
	if len(piece) == 0 || room < 0 {
		return nil
	}
	if int64(len(piece)) > room {
		piece = slices.Clip(piece[:room])
		if end := bytes.LastIndexByte(piece, '\n') + 1; end > 0 || room == 0 {
			piece = piece[:end:end]
		} else {
			piece = append(piece, '\n')
		}
		piece = append(piece, addedLine("ringback", turn, fmt.Sprintf(
			"This turn has printed more than the %d KiB that are kept: the rest is left out.", most>>10,
		))...)
	}
	return t.s.writeOutput(ctx, "SETRANGE", "transcript", id, turn, offset, piece)
}

// Pack compresses the output of a turn that has ended and writes no further pieces. The
// JSON of a conversation shrinks to a fifth, and a value written piece by piece has spare capacity.
func (t Transcripts) Pack(ctx context.Context, id job.ID, turn int) error {
	p, err := locate(id)
	if err != nil {
		return err
	}
	text, err := t.s.rdb.GetRange(ctx, p.key("transcript", string(id), itoa(turn)), 0, -1).Result()
	if err != nil {
		return err
	}
	if text == "" || gz.IsPacked(text) {
		return nil
	}
	return t.s.writeOutput(ctx, "SET", "transcript", id, turn, gz.Pack([]byte(text)))
}

// writeOutput writes output of a turn. It is kept as long as the record.
func (s *Store) writeOutput(ctx context.Context, command, name string, id job.ID, turn int, args ...any) error {
	return s.attach(ctx, id, kept{}, command, name+":"+string(id)+":"+itoa(turn), args...)
}

// StderrLimit is the maximum number of bytes of standard error output kept per turn: its end.
const StderrLimit = 64 << 10

// WriteStderr stores the standard error output of a turn so far, replacing what was stored before.
func (t Transcripts) WriteStderr(ctx context.Context, id job.ID, turn int, text []byte) error {
	return t.s.writeOutput(ctx, "SET", "stderr", id, turn, text[max(0, len(text)-StderrLimit):])
}

// added is a transcript line that does not come from standard output: a line of standard error,
// after that output, or a line by the server, before it.
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
	return text(added{kind, turn, line}) + "\n"
}

// Read returns the output of the CLI in all turns of a job, as far as it was kept: lines of
// JSON, with those of standard error marked.
func (t Transcripts) Read(ctx context.Context, j job.Job) (string, error) {
	if j.Turn == 0 {
		return "", nil
	}
	p, pipe := PartitionOf(j.ID), t.s.rdb.Pipeline()
	notes := pipe.HGetAll(ctx, p.key("notes", string(j.ID)))
	turns, errors := make([]*redis.StringCmd, j.Turn), make([]*redis.StringCmd, j.Turn)
	for n := range turns {
		turns[n] = pipe.GetRange(ctx, p.key("transcript", string(j.ID), itoa(n+1)), 0, -1)
		errors[n] = pipe.GetRange(ctx, p.key("stderr", string(j.ID), itoa(n+1)), 0, -1)
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return "", err
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
				all.WriteByte('\n') // the output ended within a line
			}
			all.WriteString(stderrLines(n+1, text))
		}
	}
	return all.String(), nil
}

// printedIn returns a turn's output from its stored form.
func printedIn(stored string) (string, error) {
	if !gz.IsPacked(stored) {
		return stored, nil
	}
	text, err := gz.Unpack([]byte(stored), TranscriptLimit+maxAdded)
	if err != nil {
		return "", fmt.Errorf("reading what a turn has printed: %w", err)
	}
	return string(text), nil
}

// SaveConversation stores the CLI's record of a conversation after a turn, replacing the earlier
// one, so that another machine can continue the conversation. It is kept as long as the job's chat. It
// returns the compressed size in bytes. If that exceeds limit, nothing is stored, the earlier record is
// deleted, and stored is false.
func (t Transcripts) SaveConversation(
	ctx context.Context, j job.Job, conversation string, at lifecycle.TurnName, text []byte, limit int64,
) (size int64, stored bool, err error) {
	packed := gz.Pack(text)
	if size = int64(len(packed)); size > limit {
		return size, false, t.s.rdb.Del(ctx, PartitionOf(j.ID).key("conversation", conversation)).Err()
	}
	// Another job may continue the conversation, so its key does not contain the job's ID.
	err = t.s.attach(
		ctx, j.ID, kept{t.s.opts.Retention, sessionKey(j.UserID, j.SessionID)},
		"HSET", "conversation:"+conversation, "at", string(at), "text", packed,
	)
	return size, err == nil, err
}

// Conversation returns what SaveConversation stored for a conversation of a job, or nil if that is
// not its state after the given turn. A record that unpacks to more than max bytes is an error.
func (t Transcripts) Conversation(
	ctx context.Context, id job.ID, conversation string, at lifecycle.TurnName, max int64,
) ([]byte, error) {
	stored, err := t.s.rdb.HMGet(ctx, PartitionOf(id).key("conversation", conversation), "at", "text").Result()
	if err != nil {
		return nil, err
	}
	packed, ok := stored[1].(string)
	if !ok || stored[0] != string(at) {
		return nil, nil
	}
	text, err := gz.Unpack([]byte(packed), max)
	if err != nil {
		return nil, fmt.Errorf("reading a conversation: %w", err)
	}
	return text, nil
}

// AddNote adds a line by the server to the transcript of a turn, before the CLI's output.
func (t Transcripts) AddNote(ctx context.Context, id job.ID, turn int, text string) error {
	return t.s.attach(ctx, id, kept{}, "HSET", "notes:"+string(id), itoa(turn), text)
}
