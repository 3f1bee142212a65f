package store

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/redis/go-redis/v9"

	"ringback/internal/job"
	"ringback/internal/rules/lifecycle"
)

// Get returns a checkpoint, or a NotFound error.
func (cs Checkpoints) Get(ctx context.Context, id job.CheckpointID) (job.Checkpoint, error) {
	found, err := cs.s.checkpoints(ctx, []job.CheckpointID{id})
	if err != nil {
		return job.Checkpoint{}, err
	}
	if len(found) == 0 {
		return job.Checkpoint{}, job.NoCheckpoint(id)
	}
	return found[0], nil
}

// checkpoints returns those of the given checkpoints that exist.
func (s *Store) checkpoints(ctx context.Context, ids []job.CheckpointID) ([]job.Checkpoint, error) {
	var keys []storedKey
	for _, id := range ids {
		if p, ok := partitionOfCheckpoint(id); ok {
			keys = append(keys, storedKey{p, "checkpoint", string(id)})
		}
	}
	records, err := readEach(
		ctx, s, keys, func(pipe redis.Pipeliner, k storedKey) *redis.MapStringStringCmd { return pipe.HGetAll(ctx, k.key()) },
	)
	if err != nil {
		return nil, err
	}
	found := make([]job.Checkpoint, 0, len(keys))
	for i, h := range records {
		if len(h) == 0 {
			continue
		}
		c := lifecycle.Checkpoint{ID: job.CheckpointID(keys[i].rest)}
		if err := decodeValues(&c, checkpointFields, h); err != nil {
			return nil, fmt.Errorf("%s: %w", c.ID, err)
		}
		found = append(found, c.View())
	}
	return found, nil
}

// withCheckpoints fills in the checkpoints that jobs wait at.
func (s *Store) withCheckpoints(ctx context.Context, jobs []job.Job) error {
	var ids []job.CheckpointID
	for _, j := range jobs {
		if j.Checkpoint != nil {
			ids = append(ids, j.Checkpoint.ID)
		}
	}
	found, err := s.checkpoints(ctx, ids)
	if err != nil {
		return err
	}
	byID := make(map[job.CheckpointID]*job.Checkpoint, len(found))
	for i := range found {
		byID[found[i].ID] = &found[i]
	}
	for i, j := range jobs {
		if j.Checkpoint != nil {
			jobs[i].Checkpoint = byID[j.Checkpoint.ID]
		}
	}
	return nil
}

// OpenIn returns the checkpoints of a session that still accept a reply, latest first.
func (cs Checkpoints) OpenIn(ctx context.Context, userID, sessionID string) ([]job.Checkpoint, error) {
	p := partitionOf(userID)
	ids, err := cs.s.rdb.ZRevRange(ctx, p.key("asking", sessionKey(userID, sessionID)), 0, 99).Result()
	if err != nil {
		return nil, err
	}
	return cs.s.checkpoints(ctx, convert[job.CheckpointID](ids))
}

// CheckpointQuery selects checkpoints. An empty field does not filter.
type CheckpointQuery struct {
	UserID string
	Status job.CheckpointStatus
	Type   job.CheckpointType
	// IDs selects by ID prefix, in a single page; zero selects all.
	IDs job.IDPrefix
	// Limit is the maximum number to return.
	Limit int
	// Cursor is the end of the previous page; empty for the first page.
	Cursor string
}

// selects reports whether the query selects a checkpoint.
func (q CheckpointQuery) selects(c job.Checkpoint) bool {
	return (q.Status == "" || c.Status == q.Status) && (q.Type == "" || c.Type == q.Type) && (q.UserID == "" || c.UserID == q.UserID)
}

// List returns checkpoints, newest first, and the cursor of the next page, which is empty
// after the last one.
func (cs Checkpoints) List(ctx context.Context, q CheckpointQuery) ([]job.Checkpoint, string, error) {
	return page[job.Checkpoint]{
		of: q.group(), ids: q.IDs, cursor: q.Cursor, limit: q.Limit, at: positionOfCheckpoint, selects: q.selects,
		fetch: func(ids []string) ([]job.Checkpoint, error) {
			return cs.s.checkpoints(ctx, convert[job.CheckpointID](ids))
		},
	}.read(ctx, cs.s)
}

// Asked returns the questions of a job, oldest first.
func (cs Checkpoints) Asked(ctx context.Context, id job.ID) ([]job.Checkpoint, error) {
	p, err := locate(id)
	if err != nil {
		return nil, err
	}
	ids, err := cs.s.rdb.LRange(ctx, p.key("asked", string(id)), 0, -1).Result()
	if err != nil {
		return nil, err
	}
	return cs.s.checkpoints(ctx, convert[job.CheckpointID](ids))
}

// Count returns how many checkpoints a query selects. It reads none of them and ignores
// IDs.
func (cs Checkpoints) Count(ctx context.Context, q CheckpointQuery) (int64, error) {
	keys, err := cs.s.keys(ctx, q.group())
	if err != nil {
		return 0, err
	}
	counts, err := readEach(ctx, cs.s, keys, func(pipe redis.Pipeliner, key string) *redis.IntCmd { return pipe.ZCard(ctx, key) })
	var n int64
	for _, count := range counts {
		n += count
	}
	return n, err
}

// OldestOpen returns when the oldest open checkpoint was created; zero if none is open. It reads no checkpoint.
func (cs Checkpoints) OldestOpen(ctx context.Context) (oldest time.Time, err error) {
	keys, err := cs.s.keys(ctx, CheckpointQuery{Status: job.Open}.group())
	if err != nil {
		return oldest, err
	}
	firsts, err := readEach(ctx, cs.s, keys, func(pipe redis.Pipeliner, key string) *redis.ZSliceCmd {
		return pipe.ZRangeWithScores(ctx, key, 0, 0)
	})
	for _, first := range slices.Concat(firsts...) {
		if at := scoreTime(first.Score); oldest.IsZero() || at.Before(oldest) {
			oldest = at
		}
	}
	return oldest, err
}

func (q CheckpointQuery) group() group {
	g := group{of: "checkpoints", user: q.UserID, second: string(q.Type), all: convert[string](job.CheckpointStatuses[:])}
	if q.Status != "" {
		g.firsts = []string{string(q.Status)}
	}
	return g
}
