package job_test

import (
	"testing"

	"ringback/internal/job"
)

// Digests are stored: those of an earlier version must still match.
func TestDigestsStayTheSame(t *testing.T) {
	t.Parallel()
	if got, want := job.Digest([]byte("abc")), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got, want := job.ActivityDigest([]byte("abc")), "ba7816bf8f01"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
