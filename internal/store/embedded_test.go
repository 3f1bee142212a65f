package store_test

import (
	"context"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"ringback/internal/store"
)

// What was answered with 200 must be in the file even if Redis is killed in that
// moment: with any other policy than "always" Redis may answer first and write later.
func TestEmbeddedRedisWritesBeforeItAnswers(t *testing.T) {
	t.Parallel()
	embedded := startEmbedded(t, t.TempDir())
	for setting, want := range map[string]string{"appendonly": "yes", "appendfsync": "always"} {
		got, err := embedded.Client.ConfigGet(t.Context(), setting).Result()
		if err != nil || got[setting] != want {
			t.Errorf("%s is %q, want %q (%v)", setting, got[setting], want, err)
		}
	}
}

// What runs for a job may find the socket or the port: without the password, which no
// file and no command line shows, it reads nothing there.
func TestTheEmbeddedStoreAnswersNobodyElse(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	durable := startEmbedded(t, dir)
	inProcess, err := store.StartInProcess()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(inProcess.Close)
	for name, e := range map[string]*store.Embedded{"durable": durable, "in process": inProcess} {
		own := e.Client.(*redis.Client).Options()
		if own.Password == "" || e.Client.Ping(t.Context()).Err() != nil {
			t.Errorf("%s: its own client is not let in", name)
		}
		for _, password := range []string{"", "wrong", "default"} {
			stranger := redis.NewClient(&redis.Options{Addr: own.Addr, Network: own.Network, Password: password})
			if err := stranger.Keys(t.Context(), "*").Err(); err == nil {
				t.Errorf("%s: a stranger with the password %q reads all keys", name, password)
			}
			stranger.Close()
		}
	}
	password := durable.Client.(*redis.Client).Options().Password
	lines, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	environs, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, file := range append(append(lines, environs...), filesUnder(t, dir)...) {
		if text, err := os.ReadFile(file); err == nil && strings.Contains(string(text), password) {
			t.Errorf("%s shows the password", file)
		}
	}
}

// A server that was killed leaves a Redis whose password nobody knows any more.
func TestTheRedisOfAServerThatDiedIsReplaced(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	redisDir := filepath.Join(dir, "redis")
	if err := os.Mkdir(redisDir, 0o700); err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(redisDir, "redis.sock")
	if len(socket) > 99 {
		t.Fatalf("%s is too long for a socket", socket)
	}
	orphan := exec.Command("redis-server", "--port", "0", "--unixsocket", socket, "--dir", redisDir,
		"--appendonly", "yes", "--save", "", "--requirepass", "nobody-knows")
	if err := orphan.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = orphan.Wait()
		close(ended)
	}()
	left := redis.NewClient(&redis.Options{Addr: socket, Network: "unix", Password: "nobody-knows"})
	defer left.Close()
	for deadline := time.Now().Add(30 * time.Second); left.Set(t.Context(), "kept", "yes", 0).Err() != nil; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the orphan did not start")
		}
	}
	embedded := startEmbedded(t, dir)
	select {
	case <-ended:
	case <-time.After(30 * time.Second):
		t.Error("the orphan is still there")
	}
	if got, err := embedded.Client.Get(t.Context(), "kept").Result(); got != "yes" {
		t.Errorf("what the orphan had stored is %q, %v", got, err)
	}
}

func startEmbedded(t *testing.T, dir string) *store.Embedded {
	t.Helper()
	if _, err := exec.LookPath("redis-server"); err != nil && os.Getenv("CI") == "" {
		t.Skip("redis-server is not installed: run make deps")
	}
	embedded, err := store.StartEmbedded(context.WithoutCancel(t.Context()), store.Embedding{
		Dir: dir, WritableFunc: func() error { return nil }, Log: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(embedded.Close)
	return embedded
}

func filesUnder(t *testing.T, dir string) (files []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
