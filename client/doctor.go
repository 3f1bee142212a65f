package client

import (
	"context"
	"net/http"

	"ringback/internal/job"
)

// Examine has the server check its store for entries that do not match the records of jobs. With
// mend, the server repairs them.
func (c *Client) Examine(ctx context.Context, mend bool) (Answer[job.Examination], error) {
	method := http.MethodGet
	if mend {
		method = http.MethodPost
	}
	return Call[job.Examination](ctx, c, method, "/api/doctor", nil)
}
