package store

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"ringback/internal/job"
)

// snapshotPiece is the maximum number of bytes of a snapshot in one command: Redis executes nothing
// else in the meantime.
const snapshotPiece = 1 << 20

// snapshotHead locates a snapshot. It is stored with the rest of the capture, once the snapshot is
// complete.
type snapshotHead struct {
	Turn  int `json:"turn"`
	Bytes int `json:"bytes"`
}

// SaveSnapshot stores, for other machines, everything that a job has changed up to a turn, as JSON,
// replacing the previous snapshot; nil stores none. saveHead stores its location with the rest of
// the capture: see lifecycle.SaveChange.
func (c Changes) SaveSnapshot(
	ctx context.Context, id job.ID, turn int, snapshot json.RawMessage, saveHead func(parts map[string]any) error,
) error {
	before, err := readChange[snapshotHead](ctx, c.s, id, "snapshot")
	if err != nil {
		return err
	}
	p := PartitionOf(id)
	if err := c.s.rdb.Del(ctx, p.key("snapshot", string(id), itoa(turn))).Err(); err != nil {
		return err
	}
	for piece := range slices.Chunk(snapshot, snapshotPiece) {
		if err := c.s.attach(ctx, id, kept{}, "RPUSH", "snapshot:"+string(id)+":"+itoa(turn), []byte(piece)); err != nil {
			return err
		}
	}
	if err := saveHead(map[string]any{"snapshot": snapshotHead{turn, len(snapshot)}}); err != nil {
		return err
	}
	if before.Turn != 0 && before.Turn != turn {
		err = c.s.rdb.Del(ctx, p.key("snapshot", string(id), itoa(before.Turn))).Err()
	}
	return err
}

// Snapshot returns what SaveSnapshot stored; nil if there is none or it is incomplete.
func (c Changes) Snapshot(ctx context.Context, id job.ID) (json.RawMessage, error) {
	head, err := readChange[snapshotHead](ctx, c.s, id, "snapshot")
	if err != nil || head.Turn == 0 {
		return nil, err
	}
	var all strings.Builder
	for n := int64(0); all.Len() < head.Bytes; n++ {
		pieces, err := c.s.rdb.LRange(ctx, PartitionOf(id).key("snapshot", string(id), itoa(head.Turn)), n, n).Result()
		if err != nil || len(pieces) == 0 {
			return nil, err
		}
		all.WriteString(pieces[0])
	}
	if all.Len() != head.Bytes || head.Bytes == 0 {
		return nil, nil
	}
	return json.RawMessage(all.String()), nil
}
