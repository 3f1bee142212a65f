package process

import (
	"errors"
	"io"
	"os"
	"syscall"
)

// errIrregular is a file that is none.
var errIrregular = errors.New("it is no regular file")

// OpenRegular opens a file that a job might have put something else in the place of: what
// is a link, a pipe or a device is refused, and nothing waits for it.
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

// maxRecord is how long the record of a process may be, in bytes.
const maxRecord = 64 << 10

func readRecord(path string) ([]byte, error) {
	f, err := OpenRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxRecord))
}
