package client_test

import (
	"testing"

	"ringback/internal/client"
	"ringback/internal/job"
)

func TestHappeningIsTheNameWithoutItsPrefix(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]job.Happening{
		"recipes:suggestions:activity": job.OnActivity, "note:checkpoint": job.OnCheckpoint,
		"note:checkpoint:resolved": job.OnResolved, "resync": client.Resync,
	} {
		if got := (client.Event{Event: job.Event{Name: name}}).Happening(); got != want {
			t.Errorf("%s means %q, want %q", name, got, want)
		}
	}
}
