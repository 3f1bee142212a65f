package claude

import (
	"net/http"
	"slices"
	"strings"

	"ringback/internal/job"
	"ringback/internal/job/transcript"
)

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
