package claude

import (
	"fmt"
	"slices"
	"strings"

	"ringback/internal/job"
	"ringback/internal/job/transcript"
	"ringback/internal/sandbox/process"
	"ringback/internal/text/excerpt"
)

// Explain returns the reason why a process ended without an accepted result, as a code
// for programs and a message for people. last is the stream's last line, nil if there was
// none; stderr is the end of its standard error.
func Explain(exit process.Exit, last *transcript.Result, stderr string) (job.Code, string) {
	if last != nil {
		if code, message := explainResult(last); code != "" {
			return code, message
		}
	}
	switch {
	case exit.Signal != "":
		return job.CodeCrashed, "Claude was killed by the system (" + exit.Signal + ")."
	case exit.Known && exit.Code != 0:
		return job.CodeCrashed, fmt.Sprintf("Claude ended with an error (exit code %d)%s", exit.Code, quoteEnd(stderr))
	}
	return job.CodeNoCallback, "Claude ended without submitting a result." + refused(last)
}

// LacksConversation reports whether the CLI could not start because of its conversation: the one to resume is
// not there, or the one to begin is. Another one helps.
func LacksConversation(stderr string) bool {
	return strings.Contains(stderr, "No conversation found") || strings.Contains(stderr, "already in use")
}

func explainResult(r *transcript.Result) (job.Code, string) {
	switch {
	case r.Subtype == "error_max_turns":
		return job.CodeNoCallback, "Claude used up its turns without submitting a result. Raise max_turns in the kind's prompt file." +
			refused(r)
	case r.Subtype == "error_max_structured_output_retries":
		return job.CodeInvalidResult, "Claude's structured output did not fit the result schema, however often it tried."
	case strings.Contains(r.Subtype, "budget"):
		return job.CodeBudget, "Claude reached the spending limit of the kind (max_budget_usd)."
	case r.IsError:
		words := strings.Join(slices.Concat(r.Errors, []string{r.Text}), " ")
		if code := limitOf(r, words); code != "" {
			return code, limitAdvice[code] + " The CLI reported" + quoteEnd(words)
		}
		if strings.Contains(words, "selected model") {
			return job.CodeCrashed, "Claude cannot use the model. Check model in the kind's prompt file. The CLI reported" + quoteEnd(words)
		}
		return job.CodeCrashed, "Claude ended with an error" + quoteEnd(words)
	}
	return "", ""
}

func refused(r *transcript.Result) string {
	if r == nil || len(r.Denials) == 0 {
		return ""
	}
	var tools []string
	for _, d := range r.Denials {
		tools = append(tools, d.Tool)
	}
	slices.Sort(tools)
	return fmt.Sprintf(" It was denied %d tool calls (%s); see allowed_tools in the kind's prompt file.",
		len(r.Denials), strings.Join(slices.Compact(tools), ", "))
}

func quoteEnd(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if text == "" {
		return "."
	}
	return ": " + excerpt.Tail(text, 300)
}
