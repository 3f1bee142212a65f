package client

import (
	"context"
	"net/http"

	"ringback/internal/job"
)

// Examine has the server look for what in its store does not fit the records of jobs, and
// with mend put it right.
func (c *Client) Examine(ctx context.Context, mend bool) (Answer[job.Examination], error) {
	method := http.MethodGet
	if mend {
		method = http.MethodPost
	}
	return Call[job.Examination](ctx, c, method, "/api/doctor", nil)
}
