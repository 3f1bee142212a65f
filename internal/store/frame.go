package store

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"ringback/internal/job"
	"ringback/internal/rules/lifecycle"
)

// eventHead returns the head of an event as it is stored and published, "<head>\n<data>":
// "<name> <job> <version of its kind> <when, in ms>", and " simulated" after it. The rest of what
// clients receive follows from where the event is: its ID and its user. lua/progress.lua adds the
// last word itself.
func eventHead(to lifecycle.Recipient, event job.EventType, at time.Time) string {
	b := make([]byte, 0, 192) // enough for most, and not on the heap
	for _, part := range [...]string{to.EventPrefix, ":", string(event), " ", string(to.JobID), " ", to.KindVersion, " "} {
		b = append(b, part...)
	}
	b = strconv.AppendInt(b, at.UnixMilli(), 10)
	if to.Simulated {
		b = append(b, " simulated"...)
	}
	return string(b)
}

// storedMessageData is the stored form of lifecycle.MessageData.
type storedMessageData struct {
	lifecycle.MessageData
	// SessionID is empty if it is the job's OwnSession.
	SessionID string        `json:"sessionId,omitzero"`
	Message   storedMessage `json:"message"`
}

// encodeEventData returns the stored form of an event's data. Only messages have one of their own.
func encodeEventData(e lifecycle.Emit) string {
	d, ok := e.Data.(lifecycle.MessageData)
	if !ok {
		return string(e.Data.(json.RawMessage))
	}
	in := place{requestID: e.To.JobID, createdAt: e.Time.Truncate(time.Millisecond)}
	stored := storedMessageData{MessageData: d, Message: storedFormOf(d.Message, in)}
	stored.Message.ID = d.Message.ID
	if d.SessionID != e.To.JobID.OwnSession() {
		stored.SessionID = d.SessionID
	}
	return text(stored)
}

// decodeEventData returns the data of an event as clients receive it.
func decodeEventData(e job.Event, event job.EventType, stored string) (data string, ok bool) {
	if event != job.EventMessage {
		return stored, true
	}
	var d storedMessageData
	if json.Unmarshal([]byte(stored), &d) != nil {
		return "", false
	}
	d.MessageData.SessionID = cmp.Or(d.SessionID, e.RequestID.OwnSession())
	in := place{userID: e.UserID, sessionID: d.MessageData.SessionID, requestID: e.RequestID, createdAt: e.Time}
	d.MessageData.Message = d.Message.message(d.Message.ID, in)
	return text(d.MessageData), true
}

// parseEvent parses an event that was stored or published. ok is false if it is not one of ours.
func parseEvent(seq, after job.Seq, userID, stored string) (e EventEnvelope, ok bool) {
	head, data, _ := strings.Cut(stored, "\n")
	words := strings.Split(head, " ")
	if len(words) < 4 {
		return e, false
	}
	of := job.Event{
		ID: seq, Name: words[0], RequestID: job.ID(words[1]), KindVersion: words[2], UserID: userID,
		Time: millis(words[3]), Simulated: slices.Contains(words[4:], "simulated"),
	}
	_, event := job.CutEvent(of.Name)
	if data, ok = decodeEventData(of, event, data); !ok {
		return e, false
	}
	return EventEnvelope{
		Seq: seq, After: after, RequestID: of.RequestID, UserID: userID, Type: event, Frame: frameOf(of, data),
	}, true
}

// frameOf returns an event's JSON as encoding/json would, which would parse the data once more: a result
// is large.
func frameOf(e job.Event, data string) string {
	b := make([]byte, 0, 320+len(data))
	b = strconv.AppendUint(append(b, `{"id":"`...), uint64(e.ID), 10)
	b = appendText(append(b, `","event":`...), e.Name)
	b = appendText(append(b, `,"requestId":`...), string(e.RequestID))
	if e.KindVersion != "" {
		b = appendText(append(b, `,"kindVersion":`...), e.KindVersion)
	}
	b = appendText(append(b, `,"userId":`...), e.UserID)
	b = e.Time.UTC().AppendFormat(append(b, `,"time":"`...), job.EventTimeLayout)
	b = append(append(b, `","data":`...), data...)
	if e.Simulated {
		b = append(b, `,"simulated":true`...)
	}
	return string(append(b, '}'))
}

// appendText appends a string as JSON.
func appendText(b []byte, s string) []byte {
	if strings.ContainsFunc(s, func(c rune) bool { return c < ' ' || c > '~' || strings.ContainsRune(`"\<>&`, c) }) {
		return append(b, text(s)...)
	}
	return append(append(append(b, '"'), s...), '"')
}
