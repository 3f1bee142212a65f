package store

import (
	"context"
	"fmt"

	"github.com/redis/go-redis/v9"

	"ringback/internal/job"
	"ringback/internal/lifecycle"
)

// Checkpoint returns a checkpoint, or a NotFound error.
func (s *Store) Checkpoint(ctx context.Context, id job.CheckpointID) (job.Checkpoint, error) {
	found, err := s.checkpoints(ctx, []job.CheckpointID{id})
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
	pipe := s.rdb.Pipeline()
	var reads []*redis.MapStringStringCmd
	var known []job.CheckpointID
	for _, id := range ids {
		if p, ok := partitionOfCheckpoint(id); ok {
			reads = append(reads, pipe.HGetAll(ctx, p.key("checkpoint", string(id))))
			known = append(known, id)
		}
	}
	if len(reads) == 0 {
		return nil, nil
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return nil, storeError(err)
	}
	found := make([]job.Checkpoint, 0, len(reads))
	for i, read := range reads {
		if len(read.Val()) == 0 {
			continue
		}
		c, err := decodeCheckpoint(known[i], read.Val())
		if err != nil {
			return nil, err
		}
		found = append(found, c)
	}
	return found, nil
}

func decodeCheckpoint(id job.CheckpointID, h map[string]string) (job.Checkpoint, error) {
	c := lifecycle.Checkpoint{ID: id}
	if err := decodeValues(&c, checkpointFields, h); err != nil {
		return job.Checkpoint{}, fmt.Errorf("%s: %w", id, err)
	}
	return c.View(), nil
}

// withCheckpoints fills in the checkpoints that jobs wait at.
func (s *Store) withCheckpoints(ctx context.Context, jobs []*job.Job) error {
	var ids []job.CheckpointID
	for _, j := range jobs {
		if j.Checkpoint != nil {
			ids = append(ids, j.Checkpoint.ID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	found, err := s.checkpoints(ctx, ids)
	if err != nil {
		return err
	}
	byID := make(map[job.CheckpointID]*job.Checkpoint, len(found))
	for i := range found {
		byID[found[i].ID] = &found[i]
	}
	for _, j := range jobs {
		if j.Checkpoint != nil {
			j.Checkpoint = byID[j.Checkpoint.ID]
		}
	}
	return nil
}

// OpenIn returns the checkpoints of a session that still accept a reply, latest first.
func (s *Store) OpenIn(ctx context.Context, userID, sessionID string) ([]job.Checkpoint, error) {
	p := partitionOf(userID)
	ids, err := s.rdb.ZRevRange(ctx, p.key("asking", sessionKey(userID, sessionID)), 0, 99).Result()
	if err != nil {
		return nil, storeError(err)
	}
	return s.checkpoints(ctx, checkpointIDs(ids))
}

func checkpointIDs(texts []string) []job.CheckpointID {
	ids := make([]job.CheckpointID, len(texts))
	for i, text := range texts {
		ids[i] = job.CheckpointID(text)
	}
	return ids
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

// Checkpoints returns checkpoints, newest first, and the cursor of the next page, which is empty
// after the last one.
func (s *Store) Checkpoints(ctx context.Context, q CheckpointQuery) ([]job.Checkpoint, string, error) {
	if q.IDs != (job.IDPrefix{}) {
		found, err := s.checkpointsLike(ctx, q)
		return found, "", err
	}
	return page[job.Checkpoint]{of: q.group(), cursor: q.Cursor, limit: q.Limit, at: positionOfCheckpoint, selects: q.selects, fetch: func(positions []position) ([]job.Checkpoint, error) {
		ids := make([]job.CheckpointID, len(positions))
		for i, at := range positions {
			ids[i] = job.CheckpointID(at.id)
		}
		return s.checkpoints(ctx, ids)
	}}.read(ctx, s)
}

// CountCheckpoints returns how many checkpoints a query selects. It reads none of them and ignores
// IDs.
func (s *Store) CountCheckpoints(ctx context.Context, q CheckpointQuery) (int64, error) {
	keys, err := s.keys(ctx, q.group())
	if err != nil {
		return 0, err
	}
	pipe := s.rdb.Pipeline()
	reads := make([]*redis.IntCmd, len(keys))
	for i, key := range keys {
		reads[i] = pipe.ZCard(ctx, key)
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return 0, storeError(err)
	}
	var n int64
	for _, read := range reads {
		n += read.Val()
	}
	return n, nil
}

func (q CheckpointQuery) group() group {
	statuses := stringsOf(job.CheckpointStatuses[:])
	return group{of: "checkpoints", user: q.UserID, first: string(q.Status), second: string(q.Type), firsts: statuses}
}
