package store

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"ringback/internal/job"
	"ringback/internal/rules/lifecycle"
)

// listing is where a record is listed: in a set or, with a score, in a sorted set. A record alone
// determines its listings: every write of a record updates them, and Inspect compares them. list is a
// key without the partition's prefix.
type listing struct{ list, member, score string }

// listingsOfJob returns the listings of a job. A job that interprets a reply is in none of the lists that
// people see: it is an internal step of handling the reply.
func listingsOfJob(r *lifecycle.Record) []listing {
	if r.State == "" {
		return nil
	}
	id := string(r.ID)
	listings := []listing{{"kinds", r.Kind, ""}}
	for _, version := range r.KindVersions() {
		listings = append(listings, listing{"kind-jobs:" + version, id, ""})
	}
	if r.Owner != "" {
		listings = append(listings, listing{"running:" + r.UserID, id, ""})
	}
	if r.IsOverLimit() {
		listings = append(listings, listing{"waiting:" + r.UserID, id, positionScore(r.QueuePosition())})
	}
	if r.AwaitsRateLimit() {
		listings = append(listings, listing{"limited", id, score(r.PhaseUntil)})
	}
	if r.IsQueued() && !r.NeedsClaude() {
		listings = append(listings, listing{"unlimited", id, score(r.CreatedAt)})
	}
	if r.Interprets.Checkpoint != "" {
		return listings
	}
	lists := []string{"jobs", "jobs-by:" + string(r.State) + ":" + r.Kind}
	for _, tag := range r.Tags {
		lists = append(lists, taggedJobs(tag))
	}
	return append(listings, listed(id, r.UserID, r.CreatedAt, lists...)...)
}

func listingsOfCheckpoint(c *lifecycle.Checkpoint) []listing {
	if c.Status == "" {
		return nil
	}
	return listed(string(c.ID), c.UserID, c.CreatedAt, "checkpoints", "checkpoints-by:"+string(c.Status)+":"+string(c.Type))
}

// listed returns listings in lists by creation time: those over all users, and those of one user.
func listed(id, user string, created time.Time, lists ...string) []listing {
	listings := []listing{{"ids", id, "0"}}
	for _, list := range lists {
		listings = append(listings, listing{list, id, score(created)}, listing{list + ":" + user, id, score(created)})
	}
	return listings
}

// taggedJobs returns the list of the jobs with a tag. No tag contains a %, so tags with a colon
// cannot be confused with a user's name.
func taggedJobs(tag string) string { return "jobs-tagged:" + strings.ReplaceAll(tag, ":", "%") }

// relist moves a record from its previous listings to its current ones.
func (c *commit) relist(was, is []listing) {
	for _, p := range was {
		if !slices.Contains(is, p) && p.list != "kinds" { // other jobs are of the kind, too
			c.remove(p.list, p.member)
		}
	}
	for _, p := range is {
		if !slices.Contains(was, p) {
			c.add(p)
		}
	}
}

func (c *commit) add(p listing) {
	if p.isSet() {
		c.do("SADD", c.key(p.list), p.member)
	} else {
		c.do("ZADD", c.key(p.list), p.score, p.member)
	}
}

// isSet reports whether the list is a set.
func (p listing) isSet() bool {
	name, _, _ := strings.Cut(p.list, ":")
	return typeOf(name) == "set"
}

// collections are how the members of a value are scanned, read and removed, by its type.
var collections = map[string]struct {
	scan         func(redis.Cmdable, context.Context, string, uint64, string, int64) *redis.ScanCmd
	read, remove string
}{
	"set":  {redis.Cmdable.SScan, "SISMEMBER", "SREM"},
	"hash": {redis.Cmdable.HScan, "HGET", "HDEL"},
	"zset": {redis.Cmdable.ZScan, "ZSCORE", "ZREM"},
}

// remove removes a member from a list, set or hash. A version of a kind goes with its last job.
func (c *commit) remove(list, member string) {
	name, rest, _ := strings.Cut(list, ":")
	c.do(collections[typeOf(name)].remove, c.key(list), member)
	if name == "kind-jobs" {
		c.unused = append(c.unused, []any{c.key(list), c.key("kind", rest)})
	}
}

// position is a position in a list: by creation time, then by ID.
type position struct {
	millis int64
	id     string
}

// compare sorts the newest first.
func (a position) compare(b position) int {
	return cmp.Or(cmp.Compare(b.millis, a.millis), strings.Compare(b.id, a.id))
}

func (a position) cursor() string { return strconv.FormatInt(a.millis, 10) + "." + a.id }

func parseCursor(cursor string) (position, error) {
	if cursor == "" {
		return position{millis: time.Now().Add(24 * time.Hour).UnixMilli()}, nil
	}
	at, id, ok := strings.Cut(cursor, ".")
	n, err := strconv.ParseInt(at, 10, 64)
	if !ok || err != nil {
		return position{}, job.Errorf(job.Invalid, "invalid cursor").
			WithHint("Pass nextCursor of the page before, unchanged.")
	}
	return position{n, id}, nil
}

// positionBefore returns the position after which a list contains what was created before a time.
func positionBefore(t time.Time) position {
	return position{millis: t.Add(time.Millisecond - 1).UnixMilli()}
}

// CursorTime returns the creation time down to which a list was read before a cursor.
func CursorTime(cursor string) time.Time {
	at, _ := parseCursor(cursor)
	return time.UnixMilli(at.millis).UTC()
}

// firstRead is the number of positions first read from each list. It doubles with each further read.
const firstRead = 16

// listReader reads lists as one, newest first.
type listReader struct {
	store *Store
	keys  []string
	since time.Time
	// before is the last of the positions that were read, read are those not returned yet.
	before position
	read   []position
	// count is the number of positions to read next from each list; 0 at the end of all.
	count int64
}

// next returns the next n positions; fewer at the end.
func (l *listReader) next(ctx context.Context, n int) ([]position, error) {
	for len(l.read) < n && l.count > 0 {
		if err := l.more(ctx); err != nil {
			return nil, err
		}
	}
	n = min(n, len(l.read))
	next := l.read[:n]
	l.read = l.read[n:]
	return next, nil
}

// more reads from each list. Of what it has read, it keeps what is newer than anything that may still
// be unread. Reading continues within the same millisecond, so some positions are read again.
func (l *listReader) more(ctx context.Context) error {
	oldest := "-inf"
	if !l.since.IsZero() {
		oldest = score(l.since)
	}
	parts, err := readEach(ctx, l.store, l.keys, func(pipe redis.Pipeliner, key string) *redis.ZSliceCmd {
		return pipe.ZRevRangeByScoreWithScores(
			ctx, key, &redis.ZRangeBy{Max: strconv.FormatInt(l.before.millis, 10), Min: oldest, Count: l.count},
		)
	})
	var all []position
	end, unread := true, position{millis: -1 << 62} // the newest that may still be unread
	for _, part := range parts {
		var last position
		for _, z := range part {
			last = position{int64(z.Score), z.Member.(string)}
			if l.before.compare(last) < 0 {
				all = append(all, last)
			}
		}
		if int64(len(part)) == l.count {
			end = false
			if last.compare(unread) < 0 {
				unread = last
			}
		}
	}
	slices.SortFunc(all, position.compare)
	all = slices.DeleteFunc(all, func(p position) bool { return p.compare(unread) > 0 })
	if len(all) > 0 {
		l.before = all[len(all)-1]
	}
	l.read, l.count = append(l.read, all...), 2*l.count
	if end {
		l.count = 0
	}
	return err
}

// group selects lists other than those of everything: jobs by state and kind, checkpoints by status
// and type. An empty field selects all.
type group struct {
	// of is "jobs" or "checkpoints".
	of   string
	user string
	// tag selects the jobs with a tag. The lists of tags are not divided by the other fields.
	tag string
	// firsts are states or statuses, of which all are all there are; second is the kind or type.
	firsts, all []string
	second      string
}

// keys returns the lists that together contain exactly a group.
func (s *Store) keys(ctx context.Context, g group) ([]string, error) {
	partitions := []Partition{partitionOf(g.user)}
	if g.user == "" {
		partitions = allPartitions()
	}
	names := []string{g.of}
	switch {
	case g.tag != "":
		names = []string{taggedJobs(g.tag)}
	case len(g.firsts) > 0 || g.second != "":
		firsts, seconds := g.firsts, []string{g.second}
		if len(firsts) == 0 {
			firsts = g.all
		}
		if g.second == "" {
			var err error
			if seconds, err = s.seconds(ctx, g.of, partitions); err != nil {
				return nil, err
			}
		}
		names = nil
		for _, first := range firsts {
			for _, second := range seconds {
				names = append(names, g.of+"-by:"+first+":"+second)
			}
		}
	}
	var keys []string
	for _, p := range partitions {
		for _, name := range names {
			if g.user != "" {
				name += ":" + g.user
			}
			keys = append(keys, p.key(name))
		}
	}
	return keys, nil
}

func convert[To, From ~string](values []From) []To {
	all := make([]To, len(values))
	for i, v := range values {
		all[i] = To(v)
	}
	return all
}

func allPartitions() []Partition {
	all := make([]Partition, Partitions)
	for p := range all {
		all[p] = Partition(p)
	}
	return all
}

// seconds returns all kinds that ever had jobs, or the types of checkpoints, which are fixed.
func (s *Store) seconds(ctx context.Context, of string, partitions []Partition) ([]string, error) {
	if of == "checkpoints" {
		return convert[string](job.CheckpointTypes[:]), nil
	}
	all, err := readEach(ctx, s, partitions, func(pipe redis.Pipeliner, p Partition) *redis.StringSliceCmd {
		return pipe.SMembers(ctx, p.key("kinds"))
	})
	kinds := slices.Concat(all...)
	slices.Sort(kinds)
	return slices.Compact(kinds), err
}
