// Package redisd runs the Redis that a server embeds if no other one is configured: a redis-server that it
// finds, or one in process.
package redisd

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/gofrs/flock"
	"github.com/redis/go-redis/v9"

	"ringback/internal/store"
	"ringback/internal/text/lazy"
)

// Embedded is a Redis that belongs to this process. Its password is generated at the start and
// exists only in the memory of the two processes.
type Embedded struct {
	// Client is connected to it.
	Client redis.UniversalClient
	// Durable is true if its contents survive the process.
	Durable bool
	// Description describes it to people.
	Description string
	// Failed receives the reason if it cannot be kept running; nil if it cannot end on its own.
	Failed <-chan error
	// marker is the file by which a copy is recognized; empty if it is not Durable.
	marker string
	stop   func()
}

// Close stops it. The client must be closed before.
func (e *Embedded) Close() { e.stop() }

// Embedding configures the embedded Redis.
type Embedding struct {
	// Dir is the directory for its files, DATA_DIR.
	Dir string
	// WritableFunc returns an error if Dir cannot be written to.
	WritableFunc func() error
	// Reserve is the disk space, in bytes, that is kept for writes while the disk is full.
	Reserve int64
	Log     *slog.Logger
}

// StartEmbedded starts a redis-server or valkey-server found on PATH, with an append-only file, and
// keeps it running. If there is none, it starts an in-process store.
func StartEmbedded(ctx context.Context, e Embedding) (*Embedded, error) {
	if bin := findServer(); bin != "" {
		return startServer(ctx, bin, e)
	}
	return StartInProcess()
}

func findServer() string {
	for _, name := range []string{"redis-server", "valkey-server"} {
		if bin, err := exec.LookPath(name); err == nil {
			return bin
		}
	}
	return ""
}

// versionIn matches the version in a server's output.
var versionIn = lazy.Regexp(`v=(\S+)`)

// ServerVersion returns the program that would run as the embedded store, with its version; empty
// if there is none.
func ServerVersion(ctx context.Context) (string, error) {
	bin := findServer()
	if bin == "" {
		return "", nil
	}
	out, err := exec.CommandContext(ctx, bin, "--version").Output()
	found := versionIn().FindSubmatch(out)
	if err == nil && found == nil {
		err = errors.New("it does not report its version")
	}
	if err != nil {
		return "", fmt.Errorf("%s --version: %w", bin, err)
	}
	return filepath.Base(bin) + " " + string(found[1]), nil
}

// StartInProcess starts a store that keeps everything in memory only.
func StartInProcess() (*Embedded, error) {
	m := miniredis.NewMiniRedis()
	password := rand.Text()
	m.RequireAuth(password) // it listens on a port that any local program can open
	if err := m.Start(); err != nil {
		return nil, fmt.Errorf("starting the in-process store: %w", err)
	}
	done := make(chan struct{})
	var ticking sync.WaitGroup
	ticking.Go(func() { expireKeys(m, done) })
	return &Embedded{
		Client:      store.NewClient(m.Addr(), password),
		Description: "in-process, memory only: jobs are lost when the server stops (install redis-server to keep them)",
		stop: func() {
			close(done)
			ticking.Wait()
			m.Close()
		},
	}, nil
}

// expireKeys makes TTLs run: miniredis does not advance its clock by itself.
func expireKeys(m *miniredis.Miniredis, done <-chan struct{}) {
	const step = 100 * time.Millisecond
	ticker := time.NewTicker(step)
	defer ticker.Stop()
	last := time.Now()
	for {
		select {
		case <-done:
			return
		case now := <-ticker.C:
			m.FastForward(now.Sub(last))
			last = now
		}
	}
}

// lockPatience limits the wait for the lock of a server that was killed: a program that it was about to
// start holds it for a moment.
const lockPatience = 2 * time.Second

func startServer(ctx context.Context, bin string, e Embedding) (*Embedded, error) {
	dir, err := filepath.Abs(filepath.Join(e.Dir, "redis"))
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("DATA_DIR: %w", err)
	}
	lock := flock.New(filepath.Join(dir, "lock"))
	waiting, cancel := context.WithTimeout(ctx, lockPatience)
	defer cancel()
	mine, err := lock.TryLockContext(waiting, 20*time.Millisecond)
	if err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return nil, fmt.Errorf("DATA_DIR: the store in %s cannot be locked: %w", dir, err)
	}
	if !mine {
		return nil, fmt.Errorf("another ringback already uses the store in %s: stop it, or set DATA_DIR or REDIS_URL", dir)
	}
	socket, cleanup, err := socketPath(dir)
	if err != nil {
		return nil, err
	}
	if err := endOrphan(ctx, socket); err != nil {
		return nil, err
	}
	password := rand.Text()
	client := store.NewClient(socket, password)
	s := &supervisor{
		Embedding: e, bin: bin, dir: dir, config: serverConfig(dir, socket, password),
		failed: make(chan error, 1), stopping: make(chan struct{}), ended: make(chan struct{}),
	}
	process, err := s.start()
	if err != nil {
		return nil, err
	}
	wait := serverWait{patience: time.Minute, socket: socket, dir: dir, log: e.Log}
	if err := wait.until(ctx, client, process.exited); err != nil {
		process.stop()
		cleanup()
		_ = lock.Unlock()
		return nil, err
	}
	go s.run(process)
	go s.keepReserve()
	return &Embedded{
		Client: client, Durable: true, Failed: s.failed, marker: filepath.Join(dir, "place"),
		Description: fmt.Sprintf("embedded %s, durable in %s", filepath.Base(bin), dir),
		stop: func() {
			s.stop()
			cleanup()
			_ = lock.Unlock()
		},
	}, nil
}

// logPrefix matches the prefix of each message in Redis' log: pid, role, time and level.
var logPrefix = lazy.Regexp(`^\d+:[A-Z] .* [.#*-] `)

// lastWords returns the last message in the server's log.
func lastWords(dir string) string {
	log := filepath.Join(dir, "redis.log")
	text, _ := os.ReadFile(log) // on error, the text is empty
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	last := logPrefix().ReplaceAllString(lines[len(lines)-1], "")
	if last == "" {
		return "its log " + log + " is empty"
	}
	return last + " (" + log + ")"
}

// serverConfig returns the configuration that the server reads from its standard input.
func serverConfig(dir, socket, password string) string {
	// With "everysec", Redis delays writes while its disk is busy with the previous fsync, and a
	// kill at that moment loses data that was already acknowledged.
	settings := [][2]string{
		{"port", "0"},
		{"unixsocket", socket},
		{"unixsocketperm", "700"},
		{"requirepass", password},
		{"dir", dir},
		{"appendonly", "yes"},
		{"appendfsync", "always"},
		{"save", ""},
		{"daemonize", "no"},
		{"logfile", filepath.Join(dir, "redis.log")},
	}
	var text strings.Builder
	for _, s := range settings {
		fmt.Fprintf(&text, "%s %s\n", s[0], strconv.Quote(s[1]))
	}
	return text.String()
}

// endOrphan stops the Redis left behind by a server that was killed. We hold the lock, so no other
// server uses it. Its password was lost with its server, so endOrphan gets its process ID from the
// kernel.
func endOrphan(ctx context.Context, socket string) error {
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	for {
		conn, err := new(net.Dialer).DialContext(ctx, "unix", socket)
		if err != nil {
			return ctx.Err() // no process listens there
		}
		pid, err := listenerPID(conn.(*net.UnixConn))
		_ = conn.Close()
		if err != nil || pid <= 1 {
			return fmt.Errorf("a program that this server did not start listens on %s: stop it", socket)
		}
		_ = syscall.Kill(pid, syscall.SIGTERM) // Redis writes its data and exits
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
	}
}

// maxSocketPath is less than what systems allow for the path of a Unix socket, which is 104 bytes or more.
const maxSocketPath = 100

// socketPath returns a path for the socket: in dir, or in a directory for temporary files if that path is too long.
func socketPath(dir string) (path string, cleanup func(), err error) {
	cleanup = func() {}
	for _, other := range []string{os.TempDir(), "/tmp"} {
		path = filepath.Join(dir, "redis.sock")
		if len(path) < maxSocketPath {
			return path, cleanup, nil
		}
		cleanup()
		short, err := os.MkdirTemp(other, "ringback")
		if err != nil {
			return "", nil, err
		}
		dir, cleanup = short, func() { os.RemoveAll(short) }
	}
	return filepath.Join(dir, "redis.sock"), cleanup, nil
}

// serverWait is the wait for a Redis that was started.
type serverWait struct {
	// patience is the longest time for which it may answer nothing.
	patience    time.Duration
	socket, dir string
	log         *slog.Logger
}

// until waits until Redis can be used, however long it loads its data.
func (w serverWait) until(ctx context.Context, client redis.UniversalClient, exited <-chan struct{}) error {
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	heard, logged := time.Now(), time.Now()
	for {
		if _, err := os.Stat(w.socket); err == nil {
			err = client.Ping(ctx).Err()
			if err == nil {
				return nil
			}
			if redis.IsLoadingError(err) {
				heard = time.Now()
			}
		}
		switch {
		case time.Since(heard) > w.patience:
			return fmt.Errorf("the embedded Redis did not answer within %s: see %s", w.patience, filepath.Join(w.dir, "redis.log"))
		case time.Since(logged) > 10*time.Second:
			logged = time.Now()
			w.log.Info("waiting for the embedded Redis: it reads its data", "log", filepath.Join(w.dir, "redis.log"))
		}
		select {
		case <-exited:
			return fmt.Errorf("the embedded Redis ended at once: %s", lastWords(w.dir))
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		}
	}
}
