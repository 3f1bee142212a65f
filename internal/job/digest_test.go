package job_test

import (
	"testing"

	"ringback/internal/job"
	"ringback/test/must"
)

// Digests are stored: those of an earlier version must still match.
func TestDigestsStayTheSame(t *testing.T) {
	t.Parallel()
	must.Equal(t, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", job.Digest([]byte("abc")))
	must.Equal(t, "ba7816bf8f01", job.ActivityDigest([]byte("abc")))
}
