package server

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sync/singleflight"
)

// checkDataDir returns an error if this server cannot keep its files in dir, with advice.
// It writes a temporary file to find out; it does not create a missing directory.
func checkDataDir(dir string) error {
	for _, name := range []string{".", "nodes", "redis", "workspaces", "mirrors"} {
		part := filepath.Join(dir, name)
		if _, err := os.Lstat(part); name != "." && errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err := tryToWrite(nearest(part)); err != nil {
			return fmt.Errorf("DATA_DIR: nothing can be written to %s: %s", part, whyNotWritable(err))
		}
	}
	return nil
}

// diskPatience limits the time for which a request waits for a disk.
const diskPatience = 2 * time.Second

// errDiskHangs is returned for a disk that does not answer in time, such as that of a network file
// system whose server is gone.
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
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT):
		return "no space is left there. Free some, or set DATA_DIR to a directory on another disk"
	}
	return err.Error()
}
