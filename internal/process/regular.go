package process

import (
	"errors"
	"io"
	"os"
	"syscall"
)

// errIrregular is returned for anything but a regular file.
var errIrregular = errors.New("it is no regular file")

// OpenRegular opens a file that a job may have replaced: it refuses links, pipes and
// devices, and does not block.
func OpenRegular(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = &os.PathError{Op: "open", Path: path, Err: errIrregular}
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// maxRecord limits the record of a process, in bytes.
const maxRecord = 64 << 10

func readRecord(path string) ([]byte, error) {
	f, err := OpenRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxRecord))
}
