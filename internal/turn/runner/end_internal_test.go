package runner

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"ringback/internal/job"
	"ringback/internal/job/transcript"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/sandbox/process"
	"ringback/internal/turn/claude"
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
