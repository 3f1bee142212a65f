package store

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"ringback/internal/job"
	"ringback/internal/rules/lifecycle"
)

// Query selects jobs. An empty field does not filter.
type Query struct {
	UserID string
	Kind   string
	// States selects the jobs in any of these states.
	States []job.State
	// IDs selects by ID prefix, in a single page; zero selects all.
	IDs job.IDPrefix
	// Tag selects the jobs that have a tag.
	Tag string
	// Text selects the jobs with each of its words in title, kind, ID or tags, ignoring case.
	Text string
	// Since selects jobs created at or after it, Until those created before it; zero selects all.
	Since, Until time.Time
	// Cursor is the end of the previous page; empty for the first page.
	Cursor string
	// Limit is the maximum number of jobs to return.
	Limit int
	// Brief leaves out input and result, which may be large.
	Brief bool
}

// selects reports whether the query selects a job.
func (q Query) selects(j job.Job) bool {
	return (q.Kind == "" || j.Kind == q.Kind) && (len(q.States) == 0 || slices.Contains(q.States, j.State)) &&
		(q.UserID == "" || j.UserID == q.UserID) && !j.CreatedAt.Before(q.Since) && (q.Until.IsZero() || j.CreatedAt.Before(q.Until)) &&
		(q.Tag == "" || slices.Contains(j.Tags, q.Tag)) && q.finds(j)
}

// finds reports whether a job contains each word of the text.
func (q Query) finds(j job.Job) bool {
	if q.Text == "" {
		return true
	}
	searched := strings.ToLower(strings.Join(append([]string{string(j.ID), j.Kind, j.Title}, j.Tags...), "\n"))
	for word := range strings.FieldsSeq(strings.ToLower(q.Text)) {
		if !strings.Contains(searched, word) {
			return false
		}
	}
	return true
}

// isListed reports whether there are lists of exactly the selected jobs. If not, other jobs are
// read, too.
func (q Query) isListed() bool {
	return q.Text == "" && (q.Tag == "" || q.Kind == "" && len(q.States) == 0)
}

func (q Query) group() group {
	states := slices.Compact(slices.Sorted(slices.Values(convert[string](q.States)))) // each has one list
	if len(states) == len(job.States) {
		states = nil
	}
	return group{of: "jobs", user: q.UserID, tag: q.Tag, firsts: states, second: q.Kind, all: convert[string](job.States[:])}
}

// List returns jobs, newest first, and the cursor of the next page, which is empty after the last
// one. If it has to read many jobs that are not selected, a page may have fewer jobs than its limit
// although there is a next page; CursorTime then returns how far back it has read. A job that moves
// while pages are read may be in one page too many or too few; all others are in exactly one.
func (j Jobs) List(ctx context.Context, q Query) ([]job.Job, string, error) {
	p := page[job.Job]{
		of: q.group(), ids: q.IDs, cursor: q.Cursor, since: q.Since, until: q.Until, limit: q.Limit, at: positionOfJob,
		selects: q.selects,
		fetch:   func(ids []string) ([]job.Job, error) { return j.s.fetch(ctx, ids, q.Brief) },
	}
	if !q.isListed() {
		p.sift = func(positions []position) ([]position, error) { return j.s.sift(ctx, q, positions) }
	}
	return p.read(ctx, j.s)
}

// siftedFields are the fields of a job's record that decide about jobs for which no list exists.
var siftedFields = []string{"kind", "state", "title", "tags"}

// sift returns the positions of the selected jobs, in order.
func (s *Store) sift(ctx context.Context, q Query, positions []position) ([]position, error) {
	records, err := readEach(ctx, s, positions, func(pipe redis.Pipeliner, at position) *redis.SliceCmd {
		return pipe.HMGet(ctx, PartitionOf(job.ID(at.id)).key("job", at.id), siftedFields...)
	})
	if err != nil {
		return nil, err
	}
	var selected []position
	for i, at := range positions {
		h := hashOf(siftedFields, records[i])
		if q.selects(job.Job{
			ID: job.ID(at.id), UserID: q.UserID, CreatedAt: time.UnixMilli(at.millis),
			Kind: h["kind"], State: job.State(h["state"]), Title: h["title"], Tags: strings.Fields(h["tags"]),
		}) {
			selected = append(selected, at)
		}
	}
	return selected, nil
}

// page is a page of records and how to read it.
type page[T any] struct {
	of           group
	ids          job.IDPrefix
	cursor       string
	since, until time.Time
	limit        int
	// sift returns the positions that are selected; set if the lists of the group contain others, too.
	sift func([]position) ([]position, error)
	// at returns the position of a record in the lists of its group.
	at      func(T) position
	selects func(T) bool
	fetch   func(ids []string) ([]T, error)
}

// mostSifted is the maximum number of positions read for one page if a sift is needed.
const mostSifted = 1000

// read returns the records and the cursor of the next page. A record that has left its list in
// between is skipped, and the next one takes its place.
func (p page[T]) read(ctx context.Context, s *Store) ([]T, string, error) {
	if p.ids != (job.IDPrefix{}) {
		found, err := p.find(ctx, s)
		return found, "", err
	}
	before, err := parseCursor(p.cursor)
	if err != nil {
		return nil, "", err
	}
	keys, err := s.keys(ctx, p.of)
	if err != nil {
		return nil, "", err
	}
	if end := positionBefore(p.until); !p.until.IsZero() && before.compare(end) < 0 {
		before = end
	}
	found, l := []T{}, listReader{store: s, keys: keys, since: p.since, before: before, count: firstRead}
	for read, atOnce := 0, p.limit+1; ; {
		if p.sift == nil {
			atOnce = p.limit + 1 - len(found)
		}
		positions, err := l.next(ctx, atOnce)
		if err != nil || len(positions) == 0 {
			return found, "", err
		}
		last := positions[len(positions)-1]
		read += len(positions)
		atOnce = min(2*atOnce, mostSifted-read)
		if p.sift != nil {
			if positions, err = p.sift(positions); err != nil {
				return nil, "", err
			}
		}
		ids := make([]string, len(positions))
		for i, at := range positions {
			ids[i] = at.id
		}
		records, err := p.fetch(ids)
		if err != nil {
			return nil, "", err
		}
		for _, record := range records {
			if !p.selects(record) {
				continue
			}
			if len(found) == p.limit {
				return found, p.at(found[p.limit-1]).cursor(), nil
			}
			found = append(found, record)
		}
		if p.sift != nil && read >= mostSifted {
			return found, last.cursor(), nil
		}
	}
}

// maxFound limits the IDs with one prefix that are read from a partition: far more than exist.
const maxFound = 100

// find returns the selected records with an ID prefix, newest first. It reads one sorted set of each
// partition, by name: the cost does not depend on how many IDs there are.
func (p page[T]) find(ctx context.Context, s *Store) ([]T, error) {
	partitions := slices.DeleteFunc(allPartitions(), func(in Partition) bool {
		_, ok := p.ids.In(in.digits())
		return !ok || p.of.user != "" && in != partitionOf(p.of.user)
	})
	ids, err := readEach(ctx, s, partitions, func(pipe redis.Pipeliner, in Partition) *redis.StringSliceCmd {
		beginning, _ := p.ids.In(in.digits())
		return pipe.ZRangeByLex(ctx, in.key("ids"), &redis.ZRangeBy{Min: "[" + beginning, Max: "(" + beginning + "~", Count: maxFound})
	})
	if err != nil {
		return nil, err
	}
	all, err := p.fetch(slices.Concat(ids...))
	found := slices.DeleteFunc(all, func(v T) bool { return !p.selects(v) })
	slices.SortFunc(found, func(a, b T) int { return p.at(a).compare(p.at(b)) })
	return found[:min(p.limit, len(found))], err
}

func positionOfJob(j job.Job) position { return position{j.CreatedAt.UnixMilli(), string(j.ID)} }

func positionOfCheckpoint(c job.Checkpoint) position {
	return position{c.CreatedAt.UnixMilli(), string(c.ID)}
}

// shownFields are the fields of a job's record that people see, and its latest activity.
var shownFields = append(fieldNames(recordFields), "activity")

// fetch reads jobs; brief leaves out input and result.
func (s *Store) fetch(ctx context.Context, ids []string, brief bool) ([]job.Job, error) {
	pipe := s.rdb.Pipeline()
	records, contents := make([]*redis.SliceCmd, len(ids)), make([]*redis.SliceCmd, len(ids))
	for i, id := range ids {
		p := PartitionOf(job.ID(id))
		records[i] = pipe.HMGet(ctx, p.key("job", id), shownFields...)
		if !brief {
			contents[i] = readContent(ctx, pipe, job.ID(id))
		}
	}
	if _, err := pipe.Exec(ctx); err != nil {
		return nil, err
	}
	jobs := make([]job.Job, 0, len(ids))
	for i, id := range ids {
		h := hashOf(shownFields, records[i].Val())
		if h["state"] == "" {
			continue
		}
		r := lifecycle.Record{ID: job.ID(id)}
		if err := decodeRecord(&r, h); err != nil {
			return nil, fmt.Errorf("%s: %w", id, err)
		}
		var content map[string]string
		if !brief {
			content = hashOf(fieldNames(contentFields), contents[i].Val())
		}
		j, err := viewOf(r, h, content)
		if err != nil {
			return nil, err
		}
		jobs = append(jobs, j)
	}
	return jobs, s.withCheckpoints(ctx, jobs)
}

// readContent reads what contentFields lists, see viewOf.
func readContent(ctx context.Context, pipe redis.Pipeliner, id job.ID) *redis.SliceCmd {
	keys := make([]string, len(contentFields))
	for i, f := range contentFields {
		keys[i] = PartitionOf(id).key(f.name, string(id))
	}
	return pipe.MGet(ctx, keys...)
}

// hashOf returns the result of HMGET, or MGET, in the form of HGETALL.
func hashOf(names []string, values []any) map[string]string {
	h := make(map[string]string, len(names))
	for i, value := range values {
		if text, ok := value.(string); ok {
			h[names[i]] = text
		}
	}
	return h
}

// Counts counts jobs by kind and state, over all users. Zero counts may be missing.
func (j Jobs) Counts(ctx context.Context) (map[string]map[job.State]int64, error) {
	kinds, err := j.s.seconds(ctx, "jobs", allPartitions())
	if err != nil || len(kinds) == 0 {
		return nil, err
	}
	var lists []storedKey
	counts := map[string]map[job.State]int64{}
	for _, kind := range kinds {
		counts[kind] = map[job.State]int64{}
		for _, state := range job.States {
			for p := range Partition(Partitions) {
				lists = append(lists, storedKey{p, "jobs-by", string(state) + ":" + kind})
			}
		}
	}
	sizes, err := readEach(ctx, j.s, lists, func(pipe redis.Pipeliner, l storedKey) *redis.IntCmd {
		return pipe.ZCard(ctx, l.key())
	})
	for i, n := range sizes {
		state, kind, _ := strings.Cut(lists[i].rest, ":")
		counts[kind][job.State(state)] += n
	}
	return counts, err
}
