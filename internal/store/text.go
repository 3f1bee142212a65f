package store

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"ringback/internal/job"
)

// TextEnvelope is a piece of text on its way to clients. Frame is the JSON that they receive.
type TextEnvelope struct {
	RequestID job.ID
	UserID    string
	Frame     string
}

// textLife is the time for which the text so far is kept if no more of it arrives.
const textLife = time.Minute

// PublishText sends a piece of what Claude is writing to all nodes. It stores soFar, which contains
// the whole text, for clients that connect later; nil once the text has ended. Nothing else is
// stored, and a piece may get lost.
func (es Events) PublishText(ctx context.Context, piece job.TextEvent, soFar *job.TextEvent) error {
	p := PartitionOf(piece.RequestID)
	pipe, key := es.s.rdb.Pipeline(), p.key("text", string(piece.RequestID))
	if soFar == nil {
		pipe.Del(ctx, key)
	} else {
		pipe.Set(ctx, key, text(soFar), textLife)
	}
	pipe.Publish(ctx, p.key("text"), string(piece.RequestID)+" "+piece.UserID+"\n"+text(piece))
	_, err := pipe.Exec(ctx)
	return err
}

// EndText deletes the text so far of a job after its turn has ended.
func (es Events) EndText(ctx context.Context, id job.ID) error {
	return es.s.rdb.Del(ctx, PartitionOf(id).key("text", string(id))).Err()
}

// TextSoFar returns the frame with the current text that Claude has written so far; nil if Claude
// is writing none.
func (es Events) TextSoFar(ctx context.Context, id job.ID) (*TextEnvelope, error) {
	p, err := locate(id)
	if err != nil {
		return nil, err
	}
	frame, err := es.s.rdb.Get(ctx, p.key("text", string(id))).Result()
	if isNil(err) {
		return nil, nil
	}
	var text job.TextEvent
	if err == nil {
		err = json.Unmarshal([]byte(frame), &text)
	}
	if err != nil {
		return nil, err
	}
	return &TextEnvelope{text.RequestID, text.UserID, frame}, nil
}

// parseText parses "<request id> <user>\n<frame>".
func parseText(payload string) (TextEnvelope, bool) {
	head, frame, _ := strings.Cut(payload, "\n")
	id, user, ok := strings.Cut(head, " ")
	return TextEnvelope{job.ID(id), user, frame}, ok
}
