package job_test

import (
	"testing"

	"ringback/internal/job"
	"ringback/test/must"
)

func TestALabelIsForPeople(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"projectName": "Project name", "aspect_ratio": "Aspect ratio", "reason": "Reason", "url": "URL", "id": "ID", "étage": "Étage", "": "",
	} {
		must.Equal(t, want, job.FieldLabel("", name), name)
		must.Equal(t, "Its title", job.FieldLabel("Its title", name), name)
	}
}
