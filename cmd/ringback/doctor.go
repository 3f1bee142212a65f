package main

import (
	"context"

	"ringback/internal/job"
	"ringback/internal/server"
)

// examineOffline checks the store that a server started here would use.
func examineOffline(ctx context.Context, mend bool) (job.Examination, error) {
	c, err := serverConfig()
	if err != nil {
		return job.Examination{}, err
	}
	return server.Examine(ctx, c, mend)
}
