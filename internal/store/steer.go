package store

import (
	"context"
	"encoding/json"
	"strings"

	"ringback/internal/job"
)

// Steer asks for another round of a change.
type Steer struct {
	Reply job.Reply
	// By is who asks.
	By job.Actor
	// Message is how it reads in the chat.
	Message job.MessageBody
}

// SteerOutcome is what became of a steer.
type SteerOutcome string

// The outcomes of EnqueueSteer; beside them, the state of a job that has ended.
const (
	SteerQueued      SteerOutcome = "queued"
	SteerUnderReview SteerOutcome = "review"   // the change waits for a decision: this is one
	SteerApproved    SteerOutcome = "approved" // what was approved is what is published
	SteerOverLimit   SteerOutcome = "limit"
	SteerUnknown     SteerOutcome = "unknown" // there is no such job
)

// queuedSteer is a steer as the scripts keep it: texts only, for they are put
// together there.
type queuedSteer struct {
	Reply string `json:"reply"`
	By    string `json:"by"`
	Audit string `json:"audit"`
}

// EnqueueSteer keeps a steer until the turn that runs has ended: then it answers
// the review, see Ask. most is how often the change may be steered. steers is how
// often it was so far, those that wait included, where that is SteerOverLimit.
func (s *Store) EnqueueSteer(ctx context.Context, j job.Job, steer Steer, most int) (outcome SteerOutcome, steers int, err error) {
	reply, err := json.Marshal(steer.Reply)
	if err != nil {
		return "", 0, err
	}
	by, err := json.Marshal(steer.By)
	if err != nil {
		return "", 0, err
	}
	audit, err := auditMembers(steer.Reply)
	if err != nil {
		return "", 0, err
	}
	text, err := json.Marshal(queuedSteer{strings.TrimSuffix(string(reply), "}"), string(by), audit})
	if err != nil {
		return "", 0, err
	}
	steer.Message.RequestID = j.ID
	message, err := messageRest(steer.Message, j.UserID, j.SessionID)
	if err != nil {
		return "", 0, err
	}
	answer, err := s.runJob(ctx, s.scripts.enqueueSteer, j.ID, most, string(text), message)
	if err != nil {
		return "", 0, err
	}
	parts := stringsOf(answer)
	if outcome = SteerOutcome(parts[0]); outcome == SteerOverLimit {
		steers = atoi(parts[1])
	}
	return outcome, steers, nil
}

// queuedPrompts are the steers that wait for the turn to end, oldest first.
func (s *Store) queuedPrompts(ctx context.Context, p Partition, id job.ID) ([]string, error) {
	texts, err := s.rdb.LRange(ctx, p.key("steers", string(id)), 0, -1).Result()
	if err != nil {
		return nil, storeError(err)
	}
	var prompts []string
	for _, text := range texts {
		var queued queuedSteer
		var reply job.Reply
		if err := json.Unmarshal([]byte(text), &queued); err != nil {
			return nil, err
		}
		if err := json.Unmarshal([]byte(queued.Reply+"}"), &reply); err != nil {
			return nil, err
		}
		prompts = append(prompts, reply.Reason)
	}
	return prompts, nil
}

// auditMembers is what a reply adds to the audit log, beside the decision: a
// reason for a no, a prompt for another round.
func auditMembers(r job.Reply) (string, error) {
	if r.Decision != job.Deny && r.Decision != job.Steer {
		return "", nil
	}
	return members(struct {
		Detail string `json:"detail,omitempty"`
	}{r.Reason})
}
