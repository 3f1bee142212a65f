package store_test

import (
	"context"
	"os"
	"os/exec"
	"testing"

	"ringback/internal/store"
)

// What was answered with 200 must be in the file even if Redis is killed in that
// moment: with any other policy than "always" Redis may answer first and write later.
func TestEmbeddedRedisWritesBeforeItAnswers(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("redis-server"); err != nil && os.Getenv("CI") == "" {
		t.Skip("redis-server is not installed: run make deps")
	}
	embedded, err := store.StartEmbedded(context.WithoutCancel(t.Context()), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(embedded.Close)
	for setting, want := range map[string]string{"appendonly": "yes", "appendfsync": "always"} {
		got, err := embedded.Client.ConfigGet(t.Context(), setting).Result()
		if err != nil || got[setting] != want {
			t.Errorf("%s is %q, want %q (%v)", setting, got[setting], want, err)
		}
	}
}
