package runner

import (
	"errors"
	"fmt"
	"io/fs"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ringback/internal/job"
	"ringback/internal/job/transcript"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/sandbox/process"
	"ringback/internal/turn/claude"
	"ringback/internal/turn/review"
	"ringback/internal/turn/workspace"
	"ringback/test/must"
)

func TestTheEndOfATurn(t *testing.T) {
	t.Parallel()
	silent, begun := &claude.Reader{}, &claude.Reader{Started: true, Begun: true}
	prompted := &claude.Reader{Started: true, Begun: true, Prompted: true}
	result := func(r transcript.Result) *claude.Reader {
		return &claude.Reader{Started: true, Begun: true, Prompted: true, Result: &r}
	}
	answered, budget := result(transcript.Result{Subtype: "success"}), result(transcript.Result{Subtype: "error_max_budget_usd"})
	limited := result(transcript.Result{IsError: true, Text: "Claude AI usage limit reached|1700000000"})
	exited, failed, killed := process.Exit{Known: true}, process.Exit{Known: true, Code: 1}, process.Exit{Known: true, Code: -1, Signal: "killed"}
	const (
		none    = "Claude ended without submitting a result."
		lost    = "Claude's process was repeatedly lost with its server."
		spent   = "Claude reached the spending limit of the kind (max_budget_usd)."
		missing = "No conversation found with session ID x"
	)
	type end struct {
		Code          job.Code
		Message       string
		Begun, Spoken bool
		Last, Lost    bool // no other attempt is made; Claude learns that it was interrupted
		NeverBegan    bool
	}
	for name, c := range map[string]struct {
		outcome outcome
		want    end
	}{
		"it exits without a result":              {outcome{exit: exited, printed: answered}, end{Code: job.CodeNoCallback, Message: none, Begun: true, Spoken: true}},
		"it fails":                               {outcome{exit: failed, printed: prompted, stderr: "no"}, end{Code: job.CodeCrashed, Message: "Claude ended with an error (exit code 1): no", Begun: true, Spoken: true}},
		"it fails at its start":                  {outcome{exit: failed, printed: silent}, end{Code: job.CodeCrashed, Message: "Claude ended with an error (exit code 1).", NeverBegan: true}},
		"it does not find its conversation":      {outcome{exit: failed, printed: silent, stderr: missing}, end{Code: job.CodeCrashed, Message: "Claude ended with an error (exit code 1): " + missing}},
		"it does not find it, and its server":    {outcome{printed: silent, stderr: missing, isGone: true}, end{Code: job.CodeNoCallback, Message: none}},
		"it has reached a limit of its process":  {outcome{exit: failed, printed: prompted, reached: "Too much."}, end{Code: job.CodeCrashed, Message: "Claude ended with an error (exit code 1). Too much.", Begun: true, Spoken: true}},
		"the system kills it":                    {outcome{exit: killed, printed: prompted}, end{Code: job.CodeCrashed, Message: "Claude was killed by the system (killed).", Begun: true, Spoken: true, Lost: true}},
		"the system kills it at its start":       {outcome{exit: killed, printed: silent}, end{Code: job.CodeCrashed, Message: "Claude was killed by the system (killed).", Lost: true, NeverBegan: true}},
		"the system kills it in its sandbox":     {outcome{exit: process.Exit{Known: true, Code: 137}, printed: begun}, end{Code: job.CodeCrashed, Message: "Claude ended with an error (exit code 137).", Begun: true, Lost: true}},
		"its server kills it":                    {outcome{exit: killed, printed: begun, isStopped: true}, end{Code: job.CodeCrashed, Message: "Claude was killed by the system (killed).", Begun: true}},
		"it hangs":                               {outcome{exit: killed, printed: begun, stalled: "Hangs.", isStopped: true}, end{Code: job.CodeStalled, Message: "Hangs.", Begun: true}},
		"it hangs at its start":                  {outcome{exit: killed, printed: silent, stalled: "Hangs.", isStopped: true}, end{Code: job.CodeStalled, Message: "Hangs.", NeverBegan: true}},
		"it prints too much":                     {outcome{exit: killed, printed: begun, printedTooMuch: true}, end{Code: job.CodeOutputLimit, Message: "Claude printed more than is allowed, so it was stopped.", Begun: true}},
		"it has used up its own budget":          {outcome{exit: exited, printed: budget}, end{Code: job.CodeBudget, Message: spent, Begun: true, Spoken: true, Last: true}},
		"an adopted one ends":                    {outcome{printed: prompted}, end{Code: job.CodeNoCallback, Message: none, Begun: true, Spoken: true, Lost: true}},
		"its result is wrong":                    {outcome{exit: exited, printed: answered, wrongResult: "Wrong."}, end{Code: job.CodeInvalidResult, Message: "Wrong.", Begun: true, Spoken: true}},
		"it is gone at its start":                {outcome{printed: silent, isGone: true}, end{Code: job.CodeCrashed, Message: lost, Lost: true}},
		"it is gone":                             {outcome{printed: prompted, isGone: true}, end{Code: job.CodeCrashed, Message: lost, Begun: true, Spoken: true, Lost: true}},
		"it has ended while no server ran":       {outcome{printed: answered, isGone: true}, end{Code: job.CodeNoCallback, Message: none, Begun: true, Spoken: true}},
		"then its result is wrong":               {outcome{printed: answered, isGone: true, wrongResult: "Wrong."}, end{Code: job.CodeInvalidResult, Message: "Wrong.", Begun: true, Spoken: true}},
		"then its budget is used up":             {outcome{printed: budget, isGone: true}, end{Code: job.CodeBudget, Message: spent, Begun: true, Spoken: true, Last: true}},
		"the store has lost that it ended":       {outcome{printed: answered, isGone: true, isBooked: true}, end{Begun: true, Spoken: true}},
		"the store has lost that its budget did": {outcome{printed: budget, isGone: true, isBooked: true}, end{Begun: true, Spoken: true}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := c.outcome
			o.code, o.message = o.explain()
			got := endOf(lifecycle.TurnEnd{}, o)
			is := end{got.Code, got.Message, got.Begun, got.Spoken, !got.Again, got.ResumeReason.Reason == lifecycle.Lost, o.neverBegan()}
			if diff := cmp.Diff(c.want, is); diff != "" {
				t.Error(diff)
			}
			if got.ResumeReason.Reason == lifecycle.Unfinished && got.ResumeReason.Detail != got.Message {
				t.Errorf("Claude is told %q", got.ResumeReason.Detail)
			}
		})
	}
	for name, isBooked := range map[string]bool{"it ends at a limit": false, "the store has lost that it ended at a limit": true} {
		o := outcome{printed: limited, isGone: true, isBooked: isBooked}
		o.code, o.message = o.explain()
		if got := endOf(lifecycle.TurnEnd{}, o); !got.Code.IsRateLimit() || got.Message == "" {
			t.Errorf("%s: %s %q", name, got.Code, got.Message)
		}
	}
}

func TestWhyATurnEnds(t *testing.T) {
	t.Parallel()
	waits, held := &job.Checkpoint{}, &job.Checkpoint{Held: true}
	for name, c := range map[string]struct {
		now  job.Job
		step review.Step
		want error
	}{
		"Claude is at work":                            {now: job.Job{Turn: 1, State: job.Running}},
		"Claude has submitted a change":                {now: job.Job{Turn: 1, State: job.Running, Submitted: true}, want: errDelivered},
		"the submitted change is being captured":       {now: job.Job{Turn: 1, State: job.Running, Submitted: true}, step: review.Submission{}},
		"a person is asked, the call waits":            {now: job.Job{Turn: 1, State: job.AwaitingInput, Checkpoint: held}},
		"a person is asked, Claude was told to stop":   {now: job.Job{Turn: 1, State: job.AwaitingInput, Checkpoint: waits}, want: errDelivered},
		"a person was asked, the question is gone":     {now: job.Job{Turn: 1, State: job.AwaitingApproval}, want: errDelivered},
		"the change is under review":                   {now: job.Job{Turn: 1, State: job.AwaitingApproval, Checkpoint: waits, Submitted: true}, step: review.Submission{}, want: errDelivered},
		"another node began this turn anew":            {now: job.Job{Turn: 1, Node: "other", State: job.Running}, want: errSuperseded},
		"the store has gone back to before it":         {now: job.Job{State: job.Pending}, want: errSuperseded},
		"the reply has come, the next turn waits":      {now: job.Job{Turn: 1, State: job.Pending, Phase: job.WaitingForExit}, want: errJobEnded},
		"the node was given up, nobody runs the job":   {now: job.Job{Turn: 1, State: job.Pending, Phase: job.Queued}, want: errSuperseded},
		"the result is there":                          {now: job.Job{Turn: 1, State: job.Received}, want: errDelivered},
		"the job was cancelled":                        {now: job.Job{Turn: 1, State: job.Cancelled}, want: errJobEnded},
		"the job was cancelled with a change":          {now: job.Job{Turn: 1, State: job.Cancelled, Submitted: true}, want: errJobEnded},
		"the job expired":                              {now: job.Job{Turn: 1, State: job.Expired}, want: errJobEnded},
		"the job failed":                               {now: job.Job{Turn: 1, State: job.Failed}, want: errJobEnded},
		"the change was rejected":                      {now: job.Job{Turn: 1, State: job.Rejected}, want: errJobEnded},
		"another node runs the next turn":              {now: job.Job{Turn: 2, State: job.Running}, want: errSuperseded},
		"another node's turn has delivered":            {now: job.Job{Turn: 2, State: job.Received}, want: errSuperseded},
		"another node's turn has submitted its change": {now: job.Job{Turn: 2, State: job.Running, Submitted: true}, want: errSuperseded},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			turn := &ownedTurn{job: job.Job{Turn: 1}, step: c.step}
			if got := turn.endState(c.now); !errors.Is(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

// The server's own work for a change that Claude has submitted is tried again, whatever has ended Claude.
func TestWhatEndsClaudeDoesNotEndTheServersWork(t *testing.T) {
	t.Parallel()
	failed := &review.Error{Code: job.CodeWorkspace, Message: "no descriptors"}
	for name, end := range map[string]lifecycle.TurnEnd{
		"nothing":          {Again: true},
		"a budget":         {Code: job.CodeBudgetExceeded, Budget: &job.UsedBudget{}, Again: true},
		"the CLI's budget": {Code: job.CodeBudget},
		"a usage limit":    {Code: job.CodeUsageLimit, RateLimit: &lifecycle.RateLimit{}, Again: true},
	} {
		got := withFailedStep(end, failed)
		if got.Budget != nil || got.RateLimit != nil || !got.Again || got.Code != failed.Code || got.Message != failed.Message {
			t.Errorf("after %s: %+v", name, got)
		}
	}
}

func TestWhyATurnCouldNotStart(t *testing.T) {
	t.Parallel()
	const bin = "The Claude CLI could not be started (/bin/claude): "
	r := &Runner{opts: Options{ClaudeBin: "/bin/claude"}}
	for name, c := range map[string]struct {
		err     error
		code    job.Code
		message string
	}{
		"the CLI is not there":              {&fs.PathError{Op: "fork/exec", Path: "/bin/claude", Err: fs.ErrNotExist}, job.CodeSpawnFailed, bin + "it was not found. Check CLAUDE_BIN."},
		"the CLI may not be run":            {&fs.PathError{Op: "fork/exec", Path: "/bin/claude", Err: fs.ErrPermission}, job.CodeSpawnFailed, bin + "it is not executable. Check CLAUDE_BIN."},
		"the system has no more processes":  {errors.New("resource temporarily unavailable"), job.CodeSpawnFailed, bin + "resource temporarily unavailable. Check CLAUDE_BIN."},
		"the repository is not there":       {&review.Error{Code: job.CodeWorkspace, Message: "The workspace could not be made ready: git clone: no"}, job.CodeWorkspace, "The workspace could not be made ready: git clone: no"},
		"the kind was removed":              {job.Errorf(job.NotFound, "The kind %q was removed while the job waited.", "x"), job.CodeKindGone, `The kind "x" was removed while the job waited.`},
		"the kind needs callbacks":          {job.Errorf(job.Conflict, "This kind asks people").WithHint("Set USE_CALLBACK_CLAUDE=true."), job.CodeNoCallbacks, "This kind asks people. Set USE_CALLBACK_CLAUDE=true."},
		"the store holds what it cannot":    {job.Errorf(job.Internal, "The store refused a command"), job.CodeSpawnFailed, "The turn could not be started: The store refused a command"},
		"whatever it was while it prepared": {fmt.Errorf("preparing: %w", job.Errorf(job.NotFound, "gone")), job.CodeKindGone, "gone"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if code, message := r.whyNotStarted(c.err); code != c.code || message != c.message {
				t.Errorf("got %s %q, want %s %q", code, message, c.code, c.message)
			}
		})
	}
}

// A repository in which no work can begin is no reason for another attempt.
func TestWhatMayPass(t *testing.T) {
	t.Parallel()
	must.Equal(t, true, mayPass(fmt.Errorf("repository x: %w", errors.New("git clone: no"))))
	must.Equal(t, false, mayPass(fmt.Errorf("repository x: %w", &workspace.Unusable{})))
}
