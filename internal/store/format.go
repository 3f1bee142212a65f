package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"ringback/internal/job"
	"ringback/internal/rules/lifecycle"
)

// Format is the newest storage format that this version writes. It also reads the one before, and writes that for
// as long as the store is in it: see join.lua.
const Format = 10

// formats are the storage formats that a version reads, and which of them it can write.
type formats struct{ oldest, newest int }

var known = formats{Format - 1, Format}

const (
	// firstFormat is the format of a store without the key migrated.
	firstFormat = 9
	// finishAfter is the time for which a store stays in its format after the last server that cannot read the next
	// one has left: until then, that version can be started again.
	finishAfter = 3 * 24 * time.Hour
)

// ErrFormat is returned if another version has written, or is using, the store in an incompatible format.
var ErrFormat = errors.New("another version of Ringback uses the store")

// fault returns why a version cannot use a store. holds is the oldest format of which records may be left.
func (f formats) fault(format, holds int) error {
	reads := fmt.Sprintf("this one reads formats %d and %d", f.oldest, f.newest)
	switch {
	case format > f.newest:
		return fmt.Errorf("%w: a newer one has written it, in format %d, and %s; start the newer version here, or use another REDIS_URL",
			ErrFormat, format, reads)
	case format < firstFormat:
		return fmt.Errorf("%w: an older one has written it, in format %d, and %s. No version reads both: let the older one end its jobs, then use an empty store (another REDIS_URL, or DATA_DIR)",
			ErrFormat, format, reads)
	case format < f.oldest:
		return fmt.Errorf("%w: it is in format %d, and %s. Go through the version that writes format %d (docs/how-to/upgrade.md): start it, run ringback upgrade --finish and ringback migrate, then start this one",
			ErrFormat, format, reads, format+1)
	case holds < f.oldest:
		return fmt.Errorf("%w: it still has records of format %d, and %s. Start the version that writes format %d again, run ringback migrate, then start this one",
			ErrFormat, holds, reads, format)
	}
	return nil
}

// format returns the format in which this server writes.
func (s *Store) format() int { return int(s.written.Load()) }

// Join registers a server that starts with the others that use the store, and learns the store's format. Its name
// must stay the same after a restart. It returns ErrFormat if this version must not use the store.
func (n Nodes) Join(ctx context.Context, name string) error {
	return n.s.join(ctx, name, toMillis(finishAfter), "1")
}

// Stay is Join for a server that is running.
func (n Nodes) Stay(ctx context.Context, name string) error {
	return n.s.join(ctx, name, toMillis(finishAfter), "")
}

// join runs join.lua. Without a name, no server is registered. after is the time after which the store moves to the
// newest format, in ms; empty if it must not. starts is "1" for a server that starts.
func (s *Store) join(ctx context.Context, name, after, starts string) error {
	answer, _, err := s.runTimed(
		ctx, s.scripts.join, 0, name, toMillis(s.opts.NodeTimeout), known.oldest, known.newest, after, starts,
	)
	if err != nil {
		return err
	}
	parts := texts(answer)
	format := atoi(parts[0])
	if err := known.fault(format, holds(parts[1], format)); err != nil {
		return err
	}
	switch before := int(s.written.Swap(int64(format))); {
	case before != 0 && before != format:
		s.log.Info("store moved to another format", "from", before, "to", format)
	case before == 0 && format < known.newest:
		s.log.Info("store in the format of the version before", "format", format, "newest", known.newest)
	}
	return nil
}

// holds returns the oldest format of which records may be left, from the key migrated.
func holds(migrated string, format int) int {
	if migrated == "" {
		return min(firstFormat, format)
	}
	return atoi(migrated)
}

// Quit removes the registration of a server that has stopped.
func (n Nodes) Quit(ctx context.Context, name string) error {
	return n.s.rdb.ZRem(ctx, Partition(0).key("servers"), memberOf(known.oldest, name), memberOf(known.newest, name)).Err()
}

// QuitAll removes the registrations of all servers from a store that none of them uses: one of which they use the
// original, or one that is opened by this program alone.
func (n Nodes) QuitAll(ctx context.Context) error {
	return n.s.rdb.Del(ctx, Partition(0).key("servers")).Err()
}

// memberOf returns a server as it is registered while it writes a format. Servers that know only that one take the
// end for a part of the name.
func memberOf(format int, name string) string {
	return fmt.Sprintf("%d %s (reads %d)", format, name, known.newest)
}

func serverOf(member string) job.StoreServer {
	format, name, _ := strings.Cut(member, " ")
	s := job.StoreServer{Name: name, Format: atoi(format), Reads: atoi(format)}
	if at := strings.LastIndex(name, " (reads "); at >= 0 {
		s.Name, s.Reads = name[:at], atoi(strings.TrimSuffix(name[at+len(" (reads "):], ")"))
	}
	return s
}

// Finish moves the store to the newest format, unless a server uses it that cannot read that. Error: Conflict.
func (n Nodes) Finish(ctx context.Context) error {
	if err := n.s.join(ctx, "", "0", ""); err != nil {
		return err
	}
	now, err := n.Format(ctx)
	if err != nil || now.Format == now.Newest {
		return err
	}
	var old []string
	for _, s := range now.Servers {
		if s.Reads < now.Newest {
			old = append(old, s.String())
		}
	}
	return job.Errorf(job.Conflict, "Servers of an older version use the store: %s", strings.Join(old, ", ")).WithHint(
		"Stop them or give them the new version. One that was killed counts for another %s (NODE_TIMEOUT).", n.s.opts.NodeTimeout)
}

// Format returns in which format the store is, and who uses it. It only reads.
func (n Nodes) Format(ctx context.Context) (f job.StoreFormat, err error) {
	key := Partition(0).key
	pipe := n.s.rdb.TxPipeline()
	format, migrated, finish := pipe.Get(ctx, key("format")), pipe.Get(ctx, key("migrated")), pipe.Get(ctx, key("finish"))
	servers := pipe.ZRangeWithScores(ctx, key("servers"), 0, -1)
	at := n.s.readTime(ctx, pipe, 0)
	if _, err := pipe.Exec(ctx); ignoreNil(err) != nil {
		return f, err
	}
	now, err := at()
	finishes, _, _ := strings.Cut(finish.Val(), " ")
	f = job.StoreFormat{Format: atoi(format.Val()), Newest: known.newest, FinishesAt: millis(finishes)}
	if format.Val() == "" { // it is empty: the first server makes it
		f.Format, f.Oldest = known.newest, known.newest
	} else {
		f.Oldest = holds(migrated.Val(), f.Format)
	}
	f.Servers, f.Older = []job.StoreServer{}, []job.OlderForm{}
	for _, s := range servers.Val() {
		if now.grace > 0 || scoreTime(s.Score).After(now.now) {
			f.Servers = append(f.Servers, serverOf(s.Member.(string)))
		}
	}
	slices.SortFunc(f.Servers, func(a, b job.StoreServer) int { return strings.Compare(a.Name, b.Name) })
	return f, err
}

// Migrate rewrites what is stored in a form of an older format, and then records that nothing of that is left. If
// rewrite is not set, it only reports what it would rewrite. It works in small steps while servers are running, and
// what it has rewritten stays so if it is interrupted. Error: Conflict while servers may still write such forms.
func (n Nodes) Migrate(ctx context.Context, jobs *lifecycle.Service, rewrite bool, report func(form string)) error {
	f, err := n.Format(ctx)
	if err == nil {
		err = known.fault(f.Format, f.Oldest)
	}
	if err != nil || f.Oldest == f.Newest {
		return err
	}
	if rewrite {
		if err := n.awaitMoved(ctx, f); err != nil {
			return err
		}
	}
	i := &inspection{store: n.s, ctx: ctx, jobs: jobs, mend: rewrite, report: func(found job.Finding) { report(found.Problem) }}
	if err := i.scan(i.olderForms); err != nil || !rewrite {
		return err
	}
	return n.s.rdb.Set(ctx, Partition(0).key("migrated"), f.Format, 0).Err()
}

// awaitMoved returns nil once no server writes an older format than the newest any more. One that cannot read the
// newest has ended, or is about to, also if it is started again and again.
func (n Nodes) awaitMoved(ctx context.Context, f job.StoreFormat) (err error) {
	if f.Format < f.Newest {
		return job.Errorf(job.Conflict, "The store is in format %d: servers of the version before can still use it", f.Format).
			WithHint("ringback upgrade --finish moves it to format %d.", f.Newest)
	}
	writesOlder := func(s job.StoreServer) bool { return s.Format < f.Format && s.Reads >= f.Format }
	for end := time.Now().Add(n.s.opts.NodeTimeout); slices.ContainsFunc(f.Servers, writesOlder); {
		if time.Now().After(end) {
			return job.Errorf(job.Conflict, "A server has not noticed yet that the store has moved").WithHint("Try again.")
		}
		if err := lifecycle.Wait(ctx, time.Second/4); err != nil {
			return err
		}
		if f, err = n.Format(ctx); err != nil {
			return err
		}
	}
	return nil
}
