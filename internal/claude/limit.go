package claude

import (
	"net/http"
	"strings"

	"ringback/internal/job"
)

// limitAdvice says what a limit is, with what to do if that is known. The CLI's words for people at a terminal ("run /login") don't help here.
var limitAdvice = map[job.Code]string{
	job.CodeUsageLimit: "Claude's account has reached its usage limit.",
	job.CodeRateLimit:  "The model's API refused: too many requests.",
	job.CodeOverloaded: "The model's API is overloaded.",
	job.CodeSignedOut:  "Claude is not logged in. Set ANTHROPIC_API_KEY for the server, or run claude and log in as the user that the server runs as.",
}

// ExplainRefusal says which limit of Claude's an error of the API is, for programs and for
// people; "" for none. resets is true if the API says when the account may go on.
func ExplainRefusal(status int, kind, words string, resets bool) (job.Code, string) {
	code := limitOf(&Result{APIStatus: status, APIErrorType: kind}, words)
	if code == job.CodeRateLimit && resets {
		code = job.CodeUsageLimit
	}
	if code == "" {
		return "", ""
	}
	return code, limitAdvice[code] + " The API says" + quoteEnd(words)
}

// statusOverloaded is what the Messages API answers when it has no room.
const statusOverloaded = 529

// limitOf tells the limits of Claude's from failures of a job; "" for none. Each is as the
// CLI reports it, and the next process of the same account would end there too.
func limitOf(r *Result, words string) job.Code {
	words = strings.ToLower(words)
	says := func(texts ...string) bool {
		for _, text := range texts {
			if strings.Contains(words, text) {
				return true
			}
		}
		return false
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
