package redisd

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// An embedded store records when the marker next to it was created. The marker of a copy, or of a
// restored backup, was created at another time, by whatever way it was copied, in its own place or in
// another one. A marker is replaced now and then, so that an older state of the store is recognized even
// if it is put next to the marker of the present one.

// SettleEvery is the interval between replacements of the marker.
const SettleEvery = time.Minute

// unknownPlace is recorded if the file system does not record when files are created. It is replaced as
// soon as it does.
const unknownPlace = "unknown"

const markerText = "ringback recognizes by this file whether the store next to it is a copy.\n"

// placeKey is among the keys of the store.
const placeKey = "rb:{00}:place"

// IsCopy reports whether the store was copied: no one knows what its original has done since.
func (e *Embedded) IsCopy(ctx context.Context) (bool, error) {
	recorded, err := e.Client.Get(ctx, placeKey).Result()
	switch known := strings.Fields(recorded); {
	case errors.Is(err, redis.Nil):
		return false, nil
	case err != nil:
		return false, err
	default:
		return !slices.Contains(known, unknownPlace) && !slices.Contains(known, e.place()), nil
	}
}

func (e *Embedded) place() string { return cmp.Or(birthOf(e.marker), unknownPlace) }

// Settle makes this place the store's, with a new marker. The store accepts the previous marker, too, in
// case the process dies before the new one is there.
func (e *Embedded) Settle(ctx context.Context) error {
	if e.marker == "" {
		return nil
	}
	next := e.marker + ".next"
	if err := os.Remove(next); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.WriteFile(next, []byte(markerText), 0o600); err != nil {
		return err
	}
	known := cmp.Or(birthOf(next), unknownPlace) + " " + birthOf(e.marker)
	if err := e.Client.Set(ctx, placeKey, known, 0).Err(); err != nil {
		return err
	}
	if err := os.Rename(next, e.marker); err != nil {
		return err
	}
	return syncDir(filepath.Dir(e.marker))
}

// syncDir makes sure that a power cut does not undo more than one replacement.
func syncDir(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}
