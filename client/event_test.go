package client_test

import (
	"testing"

	"ringback/client"
	"ringback/internal/job"
)

func TestTypeIsTheNameWithoutItsPrefix(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]job.EventType{
		"recipes:suggestions:activity": job.EventActivity, "note:checkpoint": job.EventCheckpoint,
		"note:checkpoint:resolved": job.EventResolved, "resync": client.Resync,
	} {
		if got := (client.Event{Event: job.Event{Name: name}}).Type(); got != want {
			t.Errorf("%s means %q, want %q", name, got, want)
		}
	}
}
