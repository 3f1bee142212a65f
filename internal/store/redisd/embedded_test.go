package redisd_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"ringback/internal/store/redisd"
	"ringback/test/must"
)

// Data acknowledged with 200 must be in the file even if Redis is killed at that moment. With any
// policy other than "always", Redis may answer first and write later.
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

// A job's process may find the socket or the port. Without the password, which is in no file and on
// no command line, it can read nothing there.
func TestTheEmbeddedStoreAnswersNobodyElse(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	durable := startEmbedded(t, dir)
	inProcess := must.Get(redisd.StartInProcess())(t)
	t.Cleanup(inProcess.Close)
	for name, e := range map[string]*redisd.Embedded{"durable": durable, "in process": inProcess} {
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

// A killed server leaves a Redis with a password that is lost.
func TestTheRedisOfAServerThatDiedIsReplaced(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	redisDir := filepath.Join(dir, "redis")
	must.OK(t, os.Mkdir(redisDir, 0o700))
	socket := filepath.Join(redisDir, "redis.sock")
	if len(socket) > 99 {
		t.Fatalf("%s is too long for a socket", socket)
	}
	orphan := exec.Command("redis-server", "--port", "0", "--unixsocket", socket, "--dir", redisDir,
		"--appendonly", "yes", "--save", "", "--requirepass", "nobody-knows")
	must.OK(t, orphan.Start())
	ended := make(chan struct{})
	go func() {
		_ = orphan.Wait()
		close(ended)
	}()
	left := redis.NewClient(&redis.Options{Addr: socket, Network: "unix", Password: "nobody-knows"})
	defer left.Close()
	must.Eventually(t, "the orphan to start", func() bool { return left.Set(t.Context(), "kept", "yes", 0).Err() == nil })
	embedded := startEmbedded(t, dir)
	select {
	case <-ended:
	case <-time.After(30 * time.Second):
		t.Error("the orphan is still there")
	}
	must.Equal(t, "yes", embedded.Client.Get(t.Context(), "kept").Val(), "what the orphan had stored is")
}

// On a disk that others have filled, with blocks or with files, the embedded Redis still stores what little is
// needed, and starts again.
func TestTheEmbeddedRedisWritesOnAFullDisk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if exec.Command("mount", "-t", "tmpfs", "-o", "size=16m,nr_inodes=300", "tmpfs", dir).Run() != nil {
		t.Skip("mounting a disk requires root")
	}
	t.Cleanup(func() { _ = exec.Command("umount", "-l", dir).Run() })
	const reserve = 4 << 20
	embedded := openEmbedded(t, dir, reserve)
	defer func() { embedded.Close() }()
	must.Eventually(t, "the reserve", func() bool {
		var s syscall.Statfs_t
		_, err := os.Stat(filepath.Join(dir, "redis", "spare"))
		return err == nil && syscall.Statfs(dir, &s) == nil && (s.Blocks-s.Bfree)*uint64(s.Bsize) >= reserve //nolint:unconvert // its type is the system's, and it is positive
	})
	for i := 0; os.WriteFile(filepath.Join(dir, fmt.Sprint("file", i)), nil, 0o600) == nil; i++ {
	}
	if os.WriteFile(filepath.Join(dir, "file0"), make([]byte, 16<<20), 0o600) == nil {
		t.Fatal("the disk does not get full")
	}
	for _, round := range []string{"a", "b"} {
		for i := range 100 {
			must.OK(t, embedded.Client.Set(t.Context(), fmt.Sprint(round, i), strings.Repeat("x", 10_000), 0).Err())
		}
		embedded.Close()
		embedded = openEmbedded(t, dir, reserve)
		must.Equal(t, 10_000, len(embedded.Client.Get(t.Context(), round+"99").Val()), "bytes that are there again")
	}
	for range 6 { // it is started again, however often it ends, and not only by another start of the server
		killRedis(t, embedded)
		must.Eventually(t, "it to answer", func() bool { return embedded.Client.Ping(t.Context()).Err() == nil })
		must.Equal(t, 10_000, len(embedded.Client.Get(t.Context(), "b99").Val()), "bytes that are there after a kill")
	}
}

func killRedis(t *testing.T, embedded *redisd.Embedded) {
	t.Helper()
	info := must.Get(embedded.Client.Info(t.Context(), "server").Result())(t)
	var pid int
	for line := range strings.Lines(info) {
		_, _ = fmt.Sscanf(line, "process_id:%d", &pid)
	}
	if pid < 2 {
		t.Fatalf("no process is named in %s", info)
	}
	must.OK(t, syscall.Kill(pid, syscall.SIGKILL))
}

func startEmbedded(t *testing.T, dir string) *redisd.Embedded {
	t.Helper()
	embedded := openEmbedded(t, dir, 0)
	t.Cleanup(embedded.Close)
	return embedded
}

// openEmbedded is startEmbedded for a test that closes it.
func openEmbedded(t *testing.T, dir string, reserve int64) *redisd.Embedded {
	t.Helper()
	if _, err := exec.LookPath("redis-server"); err != nil && os.Getenv("CI") == "" {
		t.Skip("redis-server is not installed: run make deps")
	}
	embedded, err := redisd.StartEmbedded(context.WithoutCancel(t.Context()), redisd.Embedding{
		Dir: dir, WritableFunc: func() error { return os.WriteFile(filepath.Join(dir, "trial"), make([]byte, 64<<10), 0o600) },
		Log: slog.New(slog.DiscardHandler), Reserve: reserve,
	})
	must.OK(t, err)
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
	must.OK(t, err)
	return files
}

// After a kill, the embedded Redis answers again within a second, or a few seconds under load.
func TestTheEmbeddedRedisAnswersAgainSoon(t *testing.T) {
	t.Parallel()
	var took []time.Duration
	for range 5 { // one server does not survive five ends within a minute
		embedded := startEmbedded(t, t.TempDir())
		for range 4 {
			killRedis(t, embedded)
			killed := time.Now()
			for embedded.Client.Ping(t.Context()).Err() != nil {
				if time.Since(killed) > 5*time.Second {
					t.Fatal("it does not answer within 5 s")
				}
				time.Sleep(time.Millisecond)
			}
			took = append(took, time.Since(killed))
		}
	}
	slices.Sort(took)
	t.Logf("%d kills: it answered again after %s (median), %s at most", len(took), took[len(took)/2], took[len(took)-1])
}
