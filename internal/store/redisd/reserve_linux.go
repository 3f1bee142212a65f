package redisd

import (
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// reserveInterval is the interval at which the reserve is filled up. Redis writes much less than the reserve
// in this time.
const reserveInterval = 200 * time.Millisecond

// keepReserve allocates disk space behind the end of Redis' append-only file until the supervisor stops. Only
// Redis can use it, by appending: while jobs have filled the disk, what they and people do is still stored,
// and a restarted server can do so, too. Redis would exit if it could not write.
func (s *supervisor) keepReserve() {
	if s.Reserve <= 0 {
		return
	}
	ticker := time.NewTicker(reserveInterval)
	defer ticker.Stop()
	for {
		if _, err := os.Lstat(s.spare()); err != nil {
			_ = os.WriteFile(s.spare(), nil, 0o600) // or later, when there is room
		}
		for _, pattern := range []string{"appendonlydir/*.incr.aof", "appendonly.aof"} { // the latter: before Redis 7
			files, _ := filepath.Glob(filepath.Join(s.dir, pattern)) // the pattern is correct
			for _, file := range files {
				_ = allocateBehind(file, s.Reserve) // it fails on a full disk: then what there was before remains
			}
		}
		select {
		case <-s.stopping:
			return
		case <-ticker.C:
		}
	}
}

// allocateBehind allocates disk space behind the end of a file. The file keeps its size.
func allocateBehind(file string, size int64) error {
	f, err := os.OpenFile(file, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	return unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_KEEP_SIZE, info.Size(), size)
}
