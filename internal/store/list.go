package store

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"ringback/internal/job"
)

// Query selects jobs. Empty fields select all.
type Query struct {
	UserID string
	Kind   string
	State  job.State
	// IDs selects by the beginning of the id, in one page; zero: all.
	IDs job.IDPrefix
	// Since selects jobs created then or later; zero: all.
	Since time.Time
	// Cursor is where the page before ended; empty for the first page.
	Cursor string
	// Limit is the most jobs to return.
	Limit int
}

// selects reports whether a job is among those asked for.
func (q Query) selects(j job.Job) bool {
	return (q.Kind == "" || j.Kind == q.Kind) && (q.State == "" || j.State == q.State) &&
		(q.UserID == "" || j.UserID == q.UserID) && !j.CreatedAt.Before(q.Since)
}

// List returns jobs, newest first, and the cursor of the next page, empty after
// the last one.
func (s *Store) List(ctx context.Context, q Query) ([]job.Job, string, error) {
	if q.IDs != (job.IDPrefix{}) {
		jobs, err := s.jobsLike(ctx, q)
		return jobs, "", err
	}
	before, err := parseCursor(q.Cursor)
	if err != nil {
		return nil, "", err
	}
	var found []job.Job
	for {
		page, err := s.page(ctx, "jobs", q.UserID, before, q.Limit+1)
		if err != nil {
			return nil, "", err
		}
		jobs, err := s.fetch(ctx, page)
		if err != nil {
			return nil, "", err
		}
		for _, j := range jobs {
			if j.CreatedAt.Before(q.Since) {
				return found, "", nil // all others are older
			}
			if !q.selects(j) {
				continue
			}
			if len(found) == q.Limit {
				last := found[len(found)-1]
				return found, place{last.CreatedAt.UnixMilli(), string(last.ID)}.cursor(), nil
			}
			found = append(found, j)
		}
		if len(page) <= q.Limit {
			return found, "", nil
		}
		before = page[len(page)-1]
	}
}

// place is a position in a listing: by time of creation, then by id.
type place struct {
	millis int64
	id     string
}

func (a place) compare(b place) int {
	if a.millis != b.millis {
		return int(b.millis - a.millis)
	}
	return strings.Compare(b.id, a.id)
}

func (a place) cursor() string { return strconv.FormatInt(a.millis, 10) + "." + a.id }

func parseCursor(cursor string) (place, error) {
	if cursor == "" {
		return place{millis: time.Now().Add(24 * time.Hour).UnixMilli()}, nil
	}
	at, id, ok := strings.Cut(cursor, ".")
	n, err := strconv.ParseInt(at, 10, 64)
	if !ok || err != nil {
		return place{}, job.Errorf(job.Invalid, "cursor is not one of ours").
			WithHint("Pass nextCursor of the page before, unchanged.")
	}
	return place{n, id}, nil
}

// page returns the next n places after before, merged over the partitions.
func (s *Store) page(ctx context.Context, index, userID string, before place, n int) ([]place, error) {
	var keys []string
	if userID != "" {
		keys = []string{partitionOf(userID).key(index, userID)}
	} else {
		for p := range Partition(Partitions) {
			keys = append(keys, p.key(index))
		}
	}
	pipe := s.rdb.Pipeline()
	reads := make([]*redis.ZSliceCmd, len(keys))
	for i, key := range keys {
		// Jobs of the very millisecond of before are few: read past them.
		reads[i] = pipe.ZRevRangeByScoreWithScores(ctx, key, &redis.ZRangeBy{
			Max: strconv.FormatInt(before.millis, 10), Min: "-inf", Count: int64(n + 256),
		})
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return nil, storeError(err)
	}
	var places []place
	for _, read := range reads {
		for _, z := range read.Val() {
			id, _ := z.Member.(string)
			if at := (place{int64(z.Score), id}); before.compare(at) < 0 {
				places = append(places, at)
			}
		}
	}
	slices.SortFunc(places, place.compare)
	return places[:min(n, len(places))], nil
}

func (s *Store) fetch(ctx context.Context, places []place) ([]job.Job, error) {
	pipe := s.rdb.Pipeline()
	reads := make([]*redis.MapStringStringCmd, len(places))
	for i, at := range places {
		p, _ := partitionOfID(job.ID(at.id))
		reads[i] = pipe.HGetAll(ctx, p.key("job", at.id))
	}
	if len(places) > 0 {
		if _, err := pipe.Exec(ctx); err != nil {
			return nil, storeError(err)
		}
	}
	jobs := make([]job.Job, 0, len(places))
	for i, read := range reads {
		if len(read.Val()) == 0 {
			continue
		}
		j, err := decodeRecord(job.ID(places[i].id), read.Val())
		if err != nil {
			return nil, err
		}
		jobs = append(jobs, j)
	}
	parked := make([]*job.Job, len(jobs))
	for i := range jobs {
		parked[i] = &jobs[i]
	}
	return jobs, s.withCheckpoints(ctx, parked)
}
