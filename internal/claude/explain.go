package claude

import (
	"fmt"
	"strings"

	"ringback/internal/job"
)

// Exit is how a CLI process ended.
type Exit struct {
	// Known is false when the process was not our child, so that nothing but its
	// end was seen.
	Known  bool
	Code   int
	Signal string // empty unless a signal ended it
	// Last is the stream's last line, nil when there was none.
	Last *Result
	// Stderr is the end of what it printed there.
	Stderr string
}

// Explain says why a process ended without an accepted result, for programs and
// for people.
func Explain(e Exit) (job.Code, string) {
	if e.Last != nil {
		if code, message := explainResult(e.Last); code != "" {
			return code, message
		}
	}
	switch {
	case e.Signal != "":
		return job.CodeCrashed, "Claude was ended by the system (" + e.Signal + ")."
	case e.Known && e.Code != 0:
		return job.CodeCrashed, fmt.Sprintf("Claude ended with an error (exit code %d)%s", e.Code, quoteEnd(e.Stderr))
	}
	return job.CodeNoCallback, "Claude ended without submitting a result."
}

func explainResult(r *Result) (job.Code, string) {
	switch {
	case r.Subtype == "error_max_turns":
		return job.CodeNoCallback, "Claude used up its turns without submitting a result. Raise max_turns in the kind's prompt file."
	case strings.Contains(r.Subtype, "budget"):
		return job.CodeBudget, "Claude reached the spending limit of the kind (max_budget_usd)."
	case r.IsError:
		return job.CodeCrashed, "Claude ended with an error" + quoteEnd(strings.Join(append(r.Errors, r.Text), " "))
	}
	return "", ""
}

// quoteEnd puts the last words of a program behind a sentence.
func quoteEnd(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if text == "" {
		return "."
	}
	const most = 300
	if runes := []rune(text); len(runes) > most {
		text = "…" + string(runes[len(runes)-most:])
	}
	return ": " + text
}
