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
	in := origin{requestID: e.To.JobID, createdAt: e.Time.Truncate(time.Millisecond)}
	stored := storedMessageData{MessageData: d, Message: storedFormOf(d.Message, in)}
	stored.Message.ID = d.Message.ID
	if d.SessionID != e.To.JobID.OwnSession() {
		stored.SessionID = d.SessionID
	}
	return text(stored)
}

// Frame returns the event's JSON as clients receive it. It is made on demand: every event reaches every node, and
// most nodes have no client for it. The data, which may be large, is put into it as it is: as a part of the event,
// encoding/json would parse it once more.
func (e EventEnvelope) Frame() string {
	head := text(struct {
		job.Event
		Time string `json:"time"`           // with a fixed number of digits
		Data any    `json:"data,omitempty"` // none yet
	}{Event: e.event, Time: e.event.Time.UTC().Format(job.EventTimeLayout)})
	return head[:len(head)-1] + `,"data":` + e.decodedData() + "}"
}

// decodedData returns the data of an event as clients receive it.
func (e EventEnvelope) decodedData() string {
	var d storedMessageData
	if e.Type != job.EventMessage || json.Unmarshal([]byte(e.data), &d) != nil {
		return e.data
	}
	d.MessageData.SessionID = cmp.Or(d.SessionID, e.RequestID.OwnSession())
	in := origin{userID: e.UserID, sessionID: d.MessageData.SessionID, requestID: e.RequestID, createdAt: e.event.Time}
	d.MessageData.Message = d.Message.message(d.Message.ID, in)
	return text(d.MessageData)
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
	e = EventEnvelope{
		Seq: seq, After: after, RequestID: of.RequestID, UserID: userID, Type: event, event: of, data: data,
	}
	return e, event != job.EventMessage || json.Valid([]byte(data))
}
