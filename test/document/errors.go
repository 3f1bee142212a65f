package document

import (
	"slices"

	"ringback/internal/job"
	"ringback/internal/web/contract"
)

// ErrorRow describes when an error is returned.
type ErrorRow struct {
	Kind job.ErrorKind
	When string
}

// Errors contains all errors, ordered by status.
var Errors = [...]ErrorRow{
	{job.Invalid, "the request is malformed or does not conform to a schema; `details` names each field"},
	{
		job.Unauthorized,
		"no valid key or token; `error` and `WWW-Authenticate` (RFC 6750) state whether it is missing, malformed, expired, wrongly signed, or lacks `exp` or `sub`",
	},
	{
		job.Forbidden,
		"authenticated, but not allowed: another user's id, a call for back ends only, a page of another origin, a `Host` that is not the server's, or a callback with a wrong signature",
	},
	{job.NotFound, "the resource does not exist or belongs to another user; for a callback, the job has ended, with the reason in `hint`"},
	{job.Method, "the path does not support this method"},
	{
		job.Conflict,
		"not possible in the current state, which `error` names; another result was already accepted; or the idempotency key was used for another request",
	},
	{job.TooLarge, "a body of more than 1 MiB, batches of a result of more than 16 MiB, or a file of more than 1 GiB"},
	{job.Unsupported, "the content type is not `application/json`"},
	{
		job.TooMany,
		"rate-limited, too many WebSockets of one user or from one address, too many unread messages for one job, or a quota or daily budget is used up; retry after `Retry-After` seconds",
	},
	{job.Internal, "an error in the server; `hint` contains an id that identifies it in the server's log"},
	{
		job.Unavailable,
		"the store is unavailable, the server is stopping, or it is at its limit of calls or WebSockets; retry after `Retry-After` seconds",
	},
}

var errorHeaders = map[job.ErrorKind][]contract.Header{
	job.Unauthorized: {{Name: "WWW-Authenticate", Text: "The expected credentials, and what is wrong with those in the request (RFC 6750)."}},
	job.Method:       {{Name: "Allow", Text: "The methods that the path supports."}},
	job.TooMany:      {{Name: "Retry-After", Text: "The time to wait before the request is sent again, in seconds."}},
	job.Unavailable:  {{Name: "Retry-After", Text: "The time to wait before the request is sent again, in seconds."}},
}

// errorsOf returns the errors that a route may respond with, ordered by status.
func errorsOf(r contract.Route) []job.ErrorKind {
	may := slices.Clone(r.Errors)
	may = append(may, job.Forbidden, job.Internal, job.Unavailable) // host check, caller's process, store
	if r.Access == contract.Caller || r.Access == contract.BackEnd {
		may = append(may, job.Unauthorized)
	}
	if r.Body != nil || len(r.Query) > 0 {
		may = append(may, job.Invalid)
	}
	if r.Body != nil && r.Body.Media == "" {
		may = append(may, job.TooLarge, job.Unsupported)
	}
	if r.Idempotent {
		may = append(may, job.Conflict)
	}
	if r.Access == contract.Claude {
		may = append(may, job.NotFound, job.Conflict, job.TooMany)
	}
	var all []job.ErrorKind
	for _, row := range Errors {
		if slices.Contains(may, row.Kind) {
			all = append(all, row.Kind)
		}
	}
	return all
}
