package server

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gofrs/flock"
	"golang.org/x/sys/unix"

	"ringback/internal/job"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/sandbox/untrusted"
	"ringback/internal/server/backup"
	"ringback/internal/server/config"
	"ringback/internal/store"
	"ringback/internal/store/doctor"
	"ringback/internal/store/redisd"
)

// Restored describes an installation that was restored, and what was found in it.
type Restored struct {
	backup.Report
	// Examination is what was found in the store; what was found is repaired.
	Examination job.Examination `json:"examination"`
	// AuditLogs counts the audit logs, and AuditFaults describes those that are not as they were written.
	AuditLogs   int          `json:"auditLogs"`
	AuditFaults []job.Detail `json:"auditFaults,omitempty"`
	// EndedApprovals counts what was allowed and had not run yet. People are asked again.
	EndedApprovals int `json:"endedApprovals"`
}

// Restore unpacks a backup into a data directory without an installation. It unpacks and verifies everything in a
// directory of its own there, and then renames. A restore that was interrupted before that has changed nothing;
// one that was interrupted after that is finished by the next call.
func Restore(ctx context.Context, c config.Config, from io.Reader) (r Restored, err error) {
	s := stage{data: c.DataDir, dir: filepath.Join(c.DataDir, restoring)}
	if began, err := untrusted.Exists(s.dir); err != nil || !began {
		if err := errors.Join(err, s.checkPlace()); err != nil { // also, a server here does not notice it
			return r, err
		}
	}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return r, fmt.Errorf("DATA_DIR: %w", err)
	}
	lock := flock.New(filepath.Join(s.dir, "lock"))
	if mine, err := lock.TryLock(); err != nil || !mine {
		return r, errors.Join(fmt.Errorf("DATA_DIR %s: another restore is running there", c.DataDir), err)
	}
	defer func() { _ = lock.Unlock() }()
	verified, err := untrusted.ReadFile(s.verified(), maxVerified)
	if err == nil {
		err = r.resume(verified, from)
	} else if err = r.prepare(ctx, c, s, from); err != nil {
		err = errors.Join(err, untrusted.Remove(s.dir))
	}
	if err != nil {
		return r, err
	}
	return r, s.place()
}

// resume checks that what was verified is the backup that is to be restored now.
func (r *Restored) resume(verified []byte, from io.Reader) error {
	if err := json.Unmarshal(verified, r); err != nil {
		return err
	}
	asked, err := backup.ReadManifest(from)
	if err == nil && !asked.CreatedAt.Equal(r.CreatedAt) {
		err = fmt.Errorf(
			"DATA_DIR: a restore of the backup of %s was interrupted when all of it was verified, and this backup is of %s. Repeat it with that file, or remove the directory %s",
			r.CreatedAt.Local().Format(time.DateTime), asked.CreatedAt.Local().Format(time.DateTime), restoring)
	}
	return err
}

// prepare unpacks and verifies everything in the stage.
func (r *Restored) prepare(ctx context.Context, c config.Config, s stage, from io.Reader) (err error) {
	if err := s.checkPlace(); err != nil {
		return err
	}
	if err := errors.Join(untrusted.Remove(s.files()), os.Mkdir(s.files(), 0o700)); err != nil {
		return err
	}
	if r.Report, err = s.unpack(ctx, from); err != nil {
		return err
	}
	if err := r.restoreStore(ctx, c, s.files()); err != nil {
		return err
	}
	unix.Sync() // before the first name changes, everything is on the disk
	return untrusted.WriteFile(s.verified(), job.MustJSON(r))
}

// restoring is the directory, in a data directory, of a restore that has not finished.
const restoring = ".ringback-restore"

// maxVerified limits the size of the note that a restore is verified, in bytes.
const maxVerified = 64 << 20

// stage is the directory in which a backup is unpacked and verified.
type stage struct{ data, dir string }

// files is the data directory before it is moved to its place.
func (s stage) files() string { return filepath.Join(s.dir, "data") }

// verified is the file that exists once everything in the stage is verified.
func (s stage) verified() string { return filepath.Join(s.dir, "verified.json") }

// checkPlace returns an error if there is an installation in the data directory.
func (s stage) checkPlace() error {
	var found []string
	for _, name := range backup.Tops() {
		if _, err := os.Lstat(filepath.Join(s.data, name)); err == nil {
			found = append(found, name)
		}
	}
	if len(found) == 0 {
		return nil
	}
	return fmt.Errorf(
		"DATA_DIR: %s has an installation already (%s), and nothing of it was changed. Restore into an empty directory: set DATA_DIR",
		s.data, strings.Join(found, ", "))
}

func (s stage) unpack(ctx context.Context, from io.Reader) (backup.Report, error) {
	to, err := os.OpenRoot(s.files())
	if err != nil {
		return backup.Report{}, err
	}
	defer to.Close()
	return backup.Read(ctx, from, to, s.checkRoom)
}

// checkRoom returns an error if a file would take what a server needs to run.
func (s stage) checkRoom(size int64) error {
	free, err := freeSpace(s.data)
	if err == nil && uint64(size)+reserveOf(free.Total) > free.Free { //nolint:gosec // tar has checked that it is not negative
		err = fmt.Errorf("DATA_DIR: the backup does not fit: %d MiB are free on the disk of %s", free.Free>>20, s.data)
	}
	return err
}

// place moves what is verified to its place, the store last. It continues after an interruption.
func (s stage) place() error {
	for _, name := range backup.Tops() {
		err := os.Rename(filepath.Join(s.files(), name), filepath.Join(s.data, name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("DATA_DIR: %w. Nothing was overwritten; remove what is in its place, and repeat this command", err)
		}
	}
	unix.Sync()
	done := s.dir + "d-" + rand.Text()
	if err := os.Rename(s.dir, done); err != nil { // at once, because a server may start now
		return err
	}
	return untrusted.Remove(done)
}

// restoreStore verifies the store of a backup, if it has one, and with REDIS_URL copies it there.
func (r *Restored) restoreStore(ctx context.Context, c config.Config, dir string) error {
	switch {
	case !r.HasStore && c.RedisURL == "":
		return errors.New("the backup has the files of a node only: set REDIS_URL to its store")
	case !r.HasStore:
		return nil
	}
	err := withEmbedded(ctx, c, dir, func(embedded *redisd.Embedded, s *store.Store) error {
		if err := r.examine(ctx, c, s); err != nil || c.RedisURL == "" {
			return errors.Join(err, embedded.Settle(ctx))
		}
		to, stop, err := openQuietly(ctx, c)
		if err != nil {
			return err
		}
		defer stop()
		if err := to.Ping(ctx); err != nil {
			return errors.New(redisAt(c.RedisURL) + ": " + err.Error()) // without advice about jobs
		}
		return s.CopyTo(ctx, to)
	})
	if err != nil {
		return fmt.Errorf("the store of the backup cannot be restored: %w (it was written by version %s)", err, r.Version)
	}
	if c.RedisURL != "" {
		return untrusted.Remove(filepath.Join(dir, "redis"))
	}
	return nil
}

// examine verifies the store, and makes it one that may continue: what the original may have done since the backup
// is not done again unasked.
func (r *Restored) examine(ctx context.Context, c config.Config, s *store.Store) (err error) {
	if err := s.Prepare(ctx); err != nil {
		return err
	}
	jobs := lifecycle.New(s, nil, lifecycle.Options{UserLimit: c.UserLimit})
	if r.Examination, err = doctor.New(s, jobs, slog.New(slog.DiscardHandler)).Examine(ctx, true); err != nil {
		return err
	}
	if err := eachJob(ctx, s, job.States[:], func(j job.Job) error { return r.verifyAudit(ctx, s, j) }); err != nil {
		return err
	}
	if r.EndedApprovals, err = takeOver(ctx, s, jobs); err != nil {
		return err
	}
	return errors.Join(s.SignIns.RemoveAll(ctx), s.Nodes.QuitAll(ctx))
}

func (r *Restored) verifyAudit(ctx context.Context, s *store.Store, j job.Job) error {
	entries, head, err := s.Jobs.Audit(ctx, j.ID)
	if err != nil || len(entries) == 0 && (head == nil || head.Count == 0) {
		return err
	}
	r.AuditLogs++
	texts := make([][]byte, len(entries))
	for i, e := range entries {
		texts[i] = e
	}
	for _, fault := range job.VerifyAudit(j, texts, head, "").Faults {
		fault.Path = string(j.ID) + ": " + fault.Path
		r.AuditFaults = append(r.AuditFaults, fault)
	}
	return nil
}

// eachJob calls do with each job in some states.
func eachJob(ctx context.Context, s *store.Store, states []job.State, do func(job.Job) error) error {
	for q, more := (store.Query{States: slices.Clone(states), Limit: 500, Brief: true}), true; more; more = q.Cursor != "" {
		jobs, next, err := s.Jobs.List(ctx, q)
		if err != nil {
			return err
		}
		for _, j := range jobs {
			if err := do(j); err != nil {
				return err
			}
		}
		q.Cursor = next
	}
	return nil
}
