package claude

import (
	"fmt"
	"net/http"
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

// limitAdvice describes each limit, with advice if there is any. The CLI's text for people at a terminal
// ("run /login") doesn't help here.
var limitAdvice = map[job.Code]string{
	job.CodeUsageLimit: "Claude's account has reached its usage limit.",
	job.CodeRateLimit:  "The model's API refused: too many requests.",
	job.CodeOverloaded: "The model's API is overloaded.",
	job.CodeSignedOut:  "Claude is not logged in. Set ANTHROPIC_API_KEY for the server, or run claude and log in as the user that the server runs as.",
}

// ExplainRefusal returns the limit that an API error indicates, as a code for programs and
// a message for people; "" if it indicates none. resets is true if the API reports when
// the account can continue.
func ExplainRefusal(status int, kind, words string, resets bool) (job.Code, string) {
	code := limitOf(&transcript.Result{APIStatus: status, APIErrorType: kind}, words)
	if code == job.CodeRateLimit && resets {
		code = job.CodeUsageLimit
	}
	if code == "" {
		return "", ""
	}
	return code, limitAdvice[code] + " The API reported" + quoteEnd(words)
}

const statusOverloaded = 529

// limitOf returns the limit of Claude's account or API that ended a process, or "" if the
// job itself failed. The next process of the same account would end the same way. It
// matches the CLI's own reports.
func limitOf(r *transcript.Result, words string) job.Code {
	words = strings.ToLower(words)
	says := func(texts ...string) bool {
		return slices.ContainsFunc(texts, func(text string) bool { return strings.Contains(words, text) })
	}
	switch {
	case r.APIError == "usage_limit_reached", r.APIErrorType == "billing_error",
		says("usage limit reached", "you've hit your", "credit balance is too low"):
		return job.CodeUsageLimit
	case r.APIStatus == http.StatusTooManyRequests:
		return job.CodeRateLimit
	case r.APIStatus == statusOverloaded, r.APIStatus == http.StatusServiceUnavailable, r.APIErrorType == "overloaded_error":
		return job.CodeOverloaded
	case r.APIStatus == http.StatusUnauthorized, says("/login", "failed to authenticate", "invalid api key"):
		return job.CodeSignedOut
	}
	return ""
}
