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
	"ringback/internal/lifecycle"
)

// place is where a record is listed: in a set or, with a score, in a sorted set. A record alone
// determines its places: every write of a record updates them, and Inspect compares them. list is a
// key without the partition's prefix.
type place struct{ list, member, score string }

// placesOfJob returns the places of a job. A job that interprets a reply is in none of the lists that
// people see: it is an internal step of handling the reply.
func placesOfJob(r *lifecycle.Record) []place {
	if r.State == "" {
		return nil
	}
	id := string(r.ID)
	places := []place{{"kinds", r.Kind, ""}}
	for _, version := range r.KindVersions() {
		places = append(places, place{"kind-jobs:" + version, id, ""})
	}
	if r.Owner != "" {
		places = append(places, place{"running:" + r.UserID, id, ""})
	}
	if r.Phase == job.WaitingForLimit && r.PhaseUntil.IsZero() {
		places = append(places, place{"waiting:" + r.UserID, id, positionScore(r.QueuePosition())})
	}
	if r.Interprets.Checkpoint != "" {
		return places
	}
	lists := []string{"jobs", "jobs-by:" + string(r.State) + ":" + r.Kind}
	for _, tag := range r.Tags {
		lists = append(lists, taggedJobs(tag))
	}
	return append(places, listed(id, r.UserID, r.CreatedAt, lists...)...)
}

func placesOfCheckpoint(c *lifecycle.Checkpoint) []place {
	if c.Status == "" {
		return nil
	}
	return listed(string(c.ID), c.UserID, c.CreatedAt, "checkpoints", "checkpoints-by:"+string(c.Status)+":"+string(c.Type))
}

// listed returns places in lists by creation time: those over all users, and those of one user.
func listed(id, user string, created time.Time, lists ...string) []place {
	places := []place{{"ids", id, "0"}}
	for _, list := range lists {
		places = append(places, place{list, id, score(created)}, place{list + ":" + user, id, score(created)})
	}
	return places
}

// taggedJobs returns the list of the jobs with a tag. No tag contains a %, so tags with a colon
// cannot be confused with a user's name.
func taggedJobs(tag string) string { return "jobs-tagged:" + strings.ReplaceAll(tag, ":", "%") }

// relist moves a record from its previous places to its current ones.
func (c *commit) relist(was, is []place) {
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

func (c *commit) add(p place) {
	if p.score == "" {
		c.do("SADD", c.key(p.list), p.member)
	} else {
		c.do("ZADD", c.key(p.list), p.score, p.member)
	}
}

var removing = map[string]string{"set": "SREM", "hash": "HDEL", "zset": "ZREM"}

// remove removes a member from a list, set or hash. A version of a kind goes with its last job.
func (c *commit) remove(list, member string) {
	name, rest, _ := strings.Cut(list, ":")
	c.do(removing[typeOf(name)], c.key(list), member)
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
		return position{}, job.Errorf(job.Invalid, "cursor is not one of ours").
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

// lane is the part of one list that is still to be read.
type lane struct {
	key string
	// read are the positions that were read but not returned yet, newest first. before is where
	// reading continues, count is the number of positions to read next, and done is set at the end of
	// the list.
	read   []position
	before position
	count  int64
	done   bool
}

// firstRead is the number of positions first read from each list. It doubles with each further read,
// so that many short lists cost little and a long one needs few round trips.
const firstRead = 16

// lanes are lists that are read as one, newest first.
type lanes struct {
	store *Store
	lists []*lane
	since time.Time
}

func (s *Store) lanes(keys []string, before position, since time.Time) *lanes {
	l := &lanes{store: s, since: since}
	for _, key := range keys {
		l.lists = append(l.lists, &lane{key: key, before: before, count: firstRead})
	}
	return l
}

// next returns the next n positions; fewer at the end.
func (l *lanes) next(ctx context.Context, n int) ([]position, error) {
	var positions []position
	for len(positions) < n {
		if err := l.fill(ctx); err != nil {
			return nil, err
		}
		newest := l.newest(n - len(positions))
		if len(newest) == 0 {
			break
		}
		positions = append(positions, newest...)
	}
	return positions, nil
}

// newest removes and returns what is newer than anything that may still be unread.
func (l *lanes) newest(n int) []position {
	var all []position
	unread := position{millis: -1 << 62} // the newest that may still be unread
	for _, list := range l.lists {
		all = append(all, list.read...)
		if last := len(list.read) - 1; !list.done && list.read[last].compare(unread) < 0 {
			unread = list.read[last]
		}
	}
	slices.SortFunc(all, position.compare)
	end, _ := slices.BinarySearchFunc(all, unread, position.compare)
	if end < len(all) && all[end] == unread {
		end++
	}
	all = all[:min(n, end)]
	for _, list := range l.lists {
		list.read = slices.DeleteFunc(list.read, func(p position) bool {
			return len(all) > 0 && p.compare(all[len(all)-1]) <= 0
		})
	}
	return all
}

// fill reads more from each list that has no read positions left.
func (l *lanes) fill(ctx context.Context) error {
	for {
		pipe := l.store.rdb.Pipeline()
		reads := map[*lane]*redis.ZSliceCmd{}
		for _, list := range l.lists {
			if len(list.read) == 0 && !list.done {
				reads[list] = pipe.ZRevRangeByScoreWithScores(ctx, list.key, &redis.ZRangeBy{
					Max: strconv.FormatInt(list.before.millis, 10), Min: l.oldest(), Count: list.count,
				})
			}
		}
		if len(reads) == 0 {
			return nil
		}
		if _, err := pipe.Exec(ctx); err != nil {
			return storeError(err)
		}
		for list, read := range reads {
			list.take(read.Val())
		}
	}
}

func (l *lanes) oldest() string {
	if l.since.IsZero() {
		return "-inf"
	}
	return score(l.since)
}

// take records what was read. Reading continues within the same millisecond, so positions read before
// appear again and are skipped.
func (l *lane) take(read []redis.Z) {
	l.done = int64(len(read)) < l.count
	l.count *= 2
	for _, z := range read {
		id, _ := z.Member.(string)
		if at := (position{int64(z.Score), id}); l.before.compare(at) < 0 {
			l.read = append(l.read, at)
		}
	}
	if len(l.read) > 0 {
		l.before = l.read[len(l.read)-1]
	}
}

// group selects lists other than those of everything: a job's state and kind, a checkpoint's status
// and type. An empty field selects all.
type group struct {
	// of is "jobs" or "checkpoints".
	of   string
	user string
	// tag selects the jobs with a tag. The lists of tags are not divided by the other fields.
	tag string
	// first is the state or status, firsts are all its values; second is the kind or type.
	first, second string
	firsts        []string
}

// keys returns the lists that together contain exactly a group.
func (s *Store) keys(ctx context.Context, g group) ([]string, error) {
	partitions := []Partition{partitionOf(g.user)}
	if g.user == "" {
		partitions = allPartitions()
	}
	if g.tag != "" {
		return listKeys(partitions, []string{taggedJobs(g.tag)}, g.user), nil
	}
	if g.first == "" && g.second == "" {
		return listKeys(partitions, []string{g.of}, g.user), nil
	}
	firsts, seconds := []string{g.first}, []string{g.second}
	if g.first == "" {
		firsts = g.firsts
	}
	if g.second == "" {
		var err error
		if seconds, err = s.seconds(ctx, g.of, partitions); err != nil {
			return nil, err
		}
	}
	var names []string
	for _, first := range firsts {
		for _, second := range seconds {
			names = append(names, g.of+"-by:"+first+":"+second)
		}
	}
	return listKeys(partitions, names, g.user), nil
}

func listKeys(partitions []Partition, names []string, user string) []string {
	var keys []string
	for _, p := range partitions {
		for _, name := range names {
			if user != "" {
				name += ":" + user
			}
			keys = append(keys, p.key(name))
		}
	}
	return keys
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
