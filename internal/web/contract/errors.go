package contract

import (
	"slices"

	"ringback/internal/job"
)

// ErrorRow describes when an error is returned.
type ErrorRow struct {
	Kind job.ErrorKind
	When string
}

// Errors contains all errors, ordered by status.
var Errors = [...]ErrorRow{
	{job.Invalid, "the request is malformed, or breaks a schema: `details` names each field"},
	{
		job.Unauthorized,
		"no key or token, or a wrong one: `error` and `WWW-Authenticate` (RFC 6750) show whether it is missing, malformed, expired, of a wrong signature, or without `exp` or `sub`",
	},
	{
		job.Forbidden,
		"known, but not allowed: another user's id, a call for back ends only, a page of another origin, a `Host` that is not the server's; a callback with a wrong signature",
	},
	{job.NotFound, "nothing of this name, or not yours; a request that is over, with the reason in `hint`"},
	{job.Method, "the path does not take this method"},
	{
		job.Conflict,
		"not possible in the present state, which `error` names; another result was accepted already; a used idempotency key",
	},
	{job.TooLarge, "a body of more than 1 MiB, batches of a result of more than 16 MiB, or a file of more than 1 GiB"},
	{job.Unsupported, "another content type than `application/json`"},
	{
		job.TooMany,
		"too fast, too many WebSockets of one user or from one address, too many messages that wait for a job's Claude, or no more jobs of the user or the kind by a quota, or by a budget of the day: wait `Retry-After` seconds",
	},
	{job.Internal, "an error of the server: the hint has an id with which to find it in the log"},
	{
		job.Unavailable,
		"the store is unavailable, the server is stopping, or it is at its limit of calls or WebSockets: retry after `Retry-After` seconds",
	},
}

var errorHeaders = map[job.ErrorKind][]Header{
	job.Unauthorized: {{"WWW-Authenticate", "The expected credentials, and what is wrong with those that were sent (RFC 6750)."}},
	job.Method:       {{"Allow", "The methods of the path."}},
	job.TooMany:      {{"Retry-After", "The number of seconds to wait before sending it again."}},
	job.Unavailable:  {{"Retry-After", "The number of seconds to wait before sending it again."}},
}

// errorsOf returns the errors that a route may respond with, ordered by status.
func errorsOf(r Route) []job.ErrorKind {
	may := slices.Clone(r.Errors)
	may = append(may, job.Forbidden, job.Internal, job.Unavailable) // host check, caller's process, store
	if r.Access == Caller || r.Access == BackEnd {
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
	if r.Access == Claude {
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
