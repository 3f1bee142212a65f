package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sync/singleflight"

	"ringback/internal/turn/runner"
)

// checkDataDir returns an error if this server cannot keep its files in dir, with advice.
// It writes a temporary file to find out; it does not create a missing directory.
func checkDataDir(dir string) error {
	if _, err := os.Lstat(filepath.Join(dir, restoring)); err == nil {
		return fmt.Errorf("DATA_DIR: a restore into %s has not finished: repeat ringback restore", dir)
	}
	for _, name := range []string{".", "nodes", "redis", "workspaces", "mirrors"} {
		part := filepath.Join(dir, name)
		if _, err := os.Lstat(part); name != "." && errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err := tryToWrite(nearest(part)); err != nil {
			return &notWritable{part, err}
		}
	}
	return nil
}

// startDataDir prepares the data directory. A full disk keeps no server from starting again: it has to report
// that, and to free what is no longer needed.
func (n *node) startDataDir(context.Context) (stop func(), err error) {
	dir := n.opts.Config.DataDir
	if n.opts.Role == API && n.opts.Config.RedisURL != "" {
		return nil, nil
	}
	if n.opts.Role != API {
		if err := runner.FreeOutput(dir); err != nil {
			n.log.Warn("could not trim the output of jobs", "error", err)
		}
	}
	err = checkDataDir(dir)
	if isFull(err) && isInUse(dir) {
		n.log.Error("disk full", "error", err)
		return nil, nil
	}
	return nil, err
}

// isInUse reports whether a server has kept files in a data directory before.
func isInUse(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "nodes"))
	return err == nil
}

// notWritable is returned for a directory that nothing can be written to.
type notWritable struct {
	dir string
	err error
}

// Error implements error.
func (e *notWritable) Error() string {
	return fmt.Sprintf("DATA_DIR: nothing can be written to %s: %s", e.dir, whyNotWritable(e.err))
}

// Unwrap returns the system's error.
func (e *notWritable) Unwrap() error { return e.err }

// isFull reports whether a full disk has caused an error.
func isFull(err error) bool { return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) }

const freeSome = "Free some, or set DATA_DIR to a directory on another disk"

// reserveOf returns how much of a disk's size jobs should leave free, in bytes: no turn starts with less. The
// embedded store keeps as much for itself.
func reserveOf(size uint64) uint64 { return min(size/16, 32<<20) }

// checkRoom returns an error if less is free on a disk than this part of what jobs should leave free.
func checkRoom(dir string, part uint64) error {
	s, err := freeSpace(dir)
	if err != nil {
		return err
	}
	if least := reserveOf(s.Total) / part; s.Free < least {
		return fmt.Errorf(
			"DATA_DIR: no space is left there for jobs: %d KiB are free on the disk of %s, and %d KiB must be. %s", s.Free>>10, dir,
			least>>10, freeSome,
		)
	}
	return nil
}

// diskPatience limits the time for which a request waits for a disk.
const diskPatience = 2 * time.Second

// errDiskHangs is returned for a disk that does not answer in time, such as that of a network file
// system without its server.
var errDiskHangs = errors.New("DATA_DIR: its disk does not answer")

// disk reads from a disk that may hang: callers wait for diskPatience at most, and no second read of
// the same name begins before the first has ended.
type disk struct{ reads singleflight.Group }

func readDisk[T any](d *disk, name string, readFunc func() (T, error)) (found T, err error) {
	select {
	case read := <-d.reads.DoChan(name, func() (any, error) { return readFunc() }):
		found, _ = read.Val.(T)
		return found, read.Err
	case <-time.After(diskPatience):
		return found, errDiskHangs
	}
}

// fullDisk is the part of what jobs should leave free below which a disk counts as full.
const fullDisk = 64

// checkStoreRoom returns an error if the disk of an embedded store is full. What runs, and what people decide, is
// still stored, in the store's own reserve; new jobs would use that up. A disk that does not answer is not full:
// the store's own calls fail then, and lose nothing.
func (n *node) checkStoreRoom() error {
	if n.db.embedded == nil {
		return nil
	}
	_, err := readDisk(&n.disk, "room", func() (any, error) { return nil, checkRoom(n.opts.Config.DataDir, fullDisk) })
	if errors.Is(err, errDiskHangs) {
		return nil
	}
	return err
}

// nearest returns dir, or its nearest parent that exists.
func nearest(dir string) string {
	for {
		_, err := os.Stat(dir)
		above := filepath.Dir(dir)
		if !errors.Is(err, fs.ErrNotExist) || above == dir {
			return dir
		}
		dir = above
	}
}

// trial is the size of the test file in bytes: less space would not suffice for one job.
const trial = 64 << 10

func tryToWrite(dir string) error {
	f, err := os.CreateTemp(dir, ".ringback-*")
	if err != nil {
		return err
	}
	_, err = f.Write(make([]byte, trial))
	return errors.Join(err, f.Close(), os.Remove(f.Name()))
}

func whyNotWritable(err error) string {
	const elsewhere = ". Start ringback in a directory that you may write to, or set DATA_DIR to one"
	switch {
	case errors.Is(err, fs.ErrPermission):
		return "this user may not" + elsewhere
	case errors.Is(err, syscall.ENOTDIR):
		return "it is not a directory" + elsewhere
	case errors.Is(err, syscall.EROFS):
		return "it is on a file system that is read-only" + elsewhere
	case isFull(err):
		return "no space is left there. " + freeSome
	}
	return err.Error()
}
