package claude

import (
	"fmt"
	"strings"

	"ringback/internal/job"
	"ringback/internal/text/excerpt"
)

// Steering is a round of a change that a reviewer asked for.
type Steering struct {
	// Prompt is the reviewer's request.
	Prompt string
	// State describes the rounds so far, including this one.
	State job.SteeringState
	// Diff and Logs contain the output that the reviewer has seen.
	Diff []job.DiffOutput
	Logs []job.VerifierOutput
}

// lastLines limits the output of a failed verifier that Claude is shown, in bytes.
const lastLines = 4000

// Seen returns a summary of the diff.
func (s *Steering) Seen() string {
	var out strings.Builder
	for _, d := range s.Diff {
		fmt.Fprintf(&out, "%s: %s\n", d.Repository, d.Summary)
		for _, f := range d.Files {
			fmt.Fprintf(&out, "  %s %s (+%d/-%d)\n", f.Status, f.Path, f.Additions, f.Deletions)
		}
	}
	return escapeFence([]byte(strings.TrimSpace(out.String())))
}

// Failed returns the verifiers that failed, with the end of their output.
func (s *Steering) Failed() string {
	var out strings.Builder
	for _, v := range s.Logs {
		if v.Success {
			continue
		}
		text := excerpt.Tail(strings.TrimSpace(v.Stdout+"\n"+v.Stderr), lastLines)
		fmt.Fprintf(&out, "%s (exit code %d):\n%s\n", v.Verifier, v.ExitCode, text)
	}
	return escapeFence([]byte(strings.TrimSpace(out.String())))
}

// Round returns the number of this round in words.
func (s *Steering) Round() string {
	return job.RoundWords(s.State.CurrentIteration, s.State.MaxIterations)
}

// Earlier returns the prompts of the rounds before this one.
func (s *Steering) Earlier() string {
	var out strings.Builder
	for _, r := range s.State.History[:max(0, len(s.State.History)-1)] {
		fmt.Fprintf(&out, "For %s: %s\n", job.RoundWords(r.IterationNumber, 0), r.Prompt)
	}
	return escapeFence([]byte(strings.TrimSpace(out.String())))
}
