package job

import "time"

// Limit is a rate limit of Claude's that an account has reached. No turn of that account is started
// until it ends.
type Limit struct {
	// Code is one of LimitCodes. Error is the same reason for people.
	Code  Code   `json:"errorCode"`
	Error string `json:"error"`
	// Since is the time at which it was reached, and Until the time of the next attempt.
	Since time.Time `json:"since"`
	Until time.Time `json:"until"`
	// Stated is true if Until came from the API. Otherwise, it is an estimate.
	Stated bool `json:"untilStated"`
}
