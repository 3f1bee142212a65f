package callback

import (
	"testing"

	"ringback/internal/job"
)

func TestActivityDefaults(t *testing.T) {
	t.Parallel()
	got := readActivity(map[string]any{"message": "x"})
	if want := (job.Activity{Message: "x", Type: job.Querying, Progress: 50}); got != want {
		t.Errorf("read %+v", got)
	}
}
