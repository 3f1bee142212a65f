package runner

import (
	"context"
	"encoding/json"
	"strings"

	"ringback/internal/job"
	"ringback/internal/job/strictjson"
	"ringback/internal/job/transcript"
	"ringback/internal/rules/kind"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/sandbox/process"
	"ringback/internal/turn/claude"
)

// outcome is what is known about a turn whose process has ended: while this start of the server watched it, or
// before.
type outcome struct {
	// exit is unknown if an earlier start of the server has begun the process.
	exit    process.Exit
	printed *claude.Reader
	stderr  string
	// isStopped is true if the server has ended the process, and printedTooMuch if it has killed it for its output.
	// stalled is the reason if the process hung; else "".
	isStopped, printedTooMuch bool
	stalled                   string
	// isGone is true if the process has ended while no server watched it. isBooked is true if this start has
	// booked that before, and the store has lost it.
	isGone, isBooked bool
	// reached describes a limit of the process that it has reached; "" for none.
	reached string
	// wrongResult is what is wrong with the result in the output, in words for Claude; "" for nothing.
	wrongResult string
	// code and message are the reason for the process's end, for the job's record: see explain.
	code    job.Code
	message string
}

// isLost reports whether the process ended, as far as is known, without the CLI's doing: with its server, or killed by
// the system. It may have begun to resume its conversation.
func (o outcome) isLost() bool {
	if o.printed.Result != nil || o.isStopped || o.printedTooMuch || claude.LacksConversation(o.stderr) {
		return false
	}
	return !o.exit.Known || o.exit.WasKilled()
}

// neverBegan reports whether the CLI has hung or ended by itself before it printed its first line. It may have called
// back.
func (o outcome) neverBegan() bool {
	if o.printed.Started || o.printedTooMuch || claude.LacksConversation(o.stderr) {
		return false
	}
	return o.stalled != "" || o.exit.Known && !o.isStopped
}

// explain returns the reason for the process's end, as far as its output reveals it.
func (o outcome) explain() (job.Code, string) {
	switch {
	case o.stalled != "":
		return job.CodeStalled, o.stalled
	case o.printedTooMuch:
		return job.CodeOutputLimit, "Claude printed more than is allowed, so it was stopped."
	case o.isGone && o.isLost():
		return job.CodeCrashed, "Claude's process was repeatedly lost with its server."
	}
	code, message := claude.Explain(o.exit, o.printed.Result, o.stderr)
	if o.reached != "" {
		message += " " + o.reached
	}
	return code, message
}

// endOf completes the end of a turn by its outcome.
func endOf(end lifecycle.TurnEnd, o outcome) lifecycle.TurnEnd {
	end.Begun, end.Spoken = o.printed.Begun, o.printed.Prompted
	end.Code, end.Message = o.code, o.message
	switch {
	case o.isBooked && !o.code.IsRateLimit():
		end.Code, end.Message = "", ""
	case o.wrongResult != "":
		end.Code, end.Message = job.CodeInvalidResult, o.wrongResult
	}
	end.Again = end.Code != job.CodeBudget
	end.ResumeReason = lifecycle.ResumeReason{Reason: lifecycle.Unfinished, Detail: end.Message}
	if o.isLost() {
		end.ResumeReason = lifecycle.ResumeReason{Reason: lifecycle.Lost}
	}
	return end
}

// settle returns the end of a turn whose process has ended. It stores the rest of the output, and accepts the result in
// it. It returns false if ctx ends while the store is unavailable: then nothing is booked, and the next start of the
// server does the same.
func (r *Runner) settle(
	ctx context.Context, j job.Job, out *output, o *outcome, worker *slot,
) (end lifecycle.TurnEnd, ok bool) {
	o.stderr = out.finish(r.opts.OutputLimit)
	err := r.withStore(ctx, j.ID, out.send)
	if err != nil {
		return end, false // the next start reads the output again
	}
	o.printed, o.printedTooMuch = out.reader, out.size() > r.opts.OutputLimit
	o.reached = r.reachedLimit(j, o.exit, o.stderr)
	code, message := o.explain()
	o.code, o.message = code, string(mask([]byte(message), r.secrets))
	var used *job.UsedBudget // because of which the turn's last request was refused
	if metered := r.uses.of(j.ID).meter; metered != nil {
		used = metered.Refused()
	}
	resetsAt := o.printed.ResetsAt
	if used == nil { // otherwise the CLI reports a refusal of this server
		o.code, o.message, resetsAt = r.confirm(j.ID, o.code, o.message, resetsAt)
	}
	if o.wrongResult, err = r.submit(ctx, j, o.printed.Result); err != nil {
		return end, false
	}
	if o.printed.Prompted {
		r.storeConversation(ctx, j)
	}
	end = endOf(r.newTurnEnd(j.ID, j.Turn, lifecycle.Unfinished), *o)
	end.Usage = r.reported(j, o.printed.Usage())
	if o.neverBegan() {
		var called bool
		err := r.withStore(ctx, j.ID, func() (err error) {
			called, err = r.hasCalledBack(j.ID)
			return err
		})
		if err != nil && ctx.Err() != nil {
			return end, false
		}
		end.NodeFault = err == nil && !called && r.couldNotStart(ctx, j, worker, nil)
	}
	switch {
	case used != nil:
		r.stopAtBudget(&end, j, used)
	case end.Code.IsRateLimit() && !j.Simulated:
		end.RateLimit = r.reach(ctx, j.ID, end.Code, end.Message, resetsAt)
	case r.modelAnswered(j.ID, o.printed):
		r.answered(j.ID)
	}
	return end, true
}

// submit accepts the result in the CLI's structured output, if results are taken from there. It returns what is wrong
// with it, in words for Claude; "" if it was accepted or comes too late. An error is returned if ctx ends while the store
// is unavailable.
func (r *Runner) submit(ctx context.Context, j job.Job, printed *transcript.Result) (wrong string, err error) {
	if !r.opts.Structured || printed == nil || len(printed.StructuredOutput) == 0 {
		return "", nil
	}
	err = r.withStore(ctx, j.ID, func() (err error) {
		limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), storeTimeout)
		defer cancel()
		wrong, err = r.accept(limited, j, printed.StructuredOutput)
		return err
	})
	if err != nil && ctx.Err() == nil {
		return "The result could not be stored: " + err.Error(), nil
	}
	return wrong, err
}

// accept accepts a result, or returns what is wrong with it.
func (r *Runner) accept(ctx context.Context, j job.Job, output json.RawMessage) (wrong string, err error) {
	k, err := r.jobs.KindOf(ctx, j)
	if err != nil {
		return "", err
	}
	payload, accepted, wrong := resultIn(k, j, output)
	if wrong != "" {
		return wrong, nil
	}
	message := job.DecodedResultMessage(payload, accepted.JSON)
	message.UserID, message.SessionID = j.UserID, j.SessionID
	_, err = r.jobs.Accept(ctx, j.ID, lifecycle.Submission{
		Digest: accepted.Digest, Result: accepted.JSON, Received: accepted.Suggestions, Message: &message,
		Holder: lifecycle.Holder{Turn: j.Turn},
	})
	return "", err
}

// resultIn returns the result in a structured output, or what is wrong with it.
func resultIn(k *kind.Kind, j job.Job, output json.RawMessage) (payload map[string]any, accepted kind.Accepted, wrong string) {
	payload, err := strictjson.Decode(output)
	if err != nil {
		return nil, accepted, "The structured output is not a JSON object."
	}
	accepted, details, err := k.Accept(payload, func() (json.RawMessage, error) { return j.Input, nil })
	if err != nil {
		return nil, accepted, err.Error()
	}
	lines := make([]string, len(details))
	for i, d := range details {
		lines[i] = d.Path + " " + d.Message
	}
	if len(lines) > 0 {
		wrong = "The structured output is wrong: " + strings.Join(lines, "; ")
	}
	return payload, accepted, wrong
}
