package job

import "time"

// Limit is a limit of Claude's that an account has reached. Until it ends, no turn of that
// account is started.
type Limit struct {
	// Code is one of LimitCodes, and Error says it for people.
	Code  Code   `json:"errorCode"`
	Error string `json:"error"`
	// Since is when it was reached, Until when the next turn is tried.
	Since time.Time `json:"since"`
	Until time.Time `json:"until"`
	// Stated is whether Until is what the API said. Else it is a guess.
	Stated bool `json:"untilStated"`
}
