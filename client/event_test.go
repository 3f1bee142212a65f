package client_test

import (
	"testing"

	"ringback/client"
	"ringback/internal/job"
	"ringback/test/must"
)

func TestTypeIsTheNameWithoutItsPrefix(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]job.EventType{
		"recipes:suggestions:activity": job.EventActivity, "note:checkpoint": job.EventCheckpoint,
		"note:checkpoint:resolved": job.EventResolved, "resync": client.Resync,
	} {
		must.Equal(t, want, (client.Event{Event: job.Event{Name: name}}).Type(), name, "means")
	}
}
