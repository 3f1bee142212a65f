package lifecycle

import (
	"testing"
	"time"

	"ringback/internal/job"
	"ringback/test/must"
)

const second, hour, day = time.Second, time.Hour, 24 * time.Hour

// reached is a limit whose end the API places some time ahead; 0 if it reports none.
func reached(ahead time.Duration) ReachedRateLimit {
	r := ReachedRateLimit{Code: job.CodeUsageLimit, Pauses: Pauses{First: second, Longest: 5 * second}}
	if ahead != 0 {
		r.ResetsAt = now.Add(ahead)
	}
	return r
}

func TestWhenALimitEnds(t *testing.T) {
	t.Parallel()
	known := AccountLimit{Now: now, Since: now.Add(-hour), Until: now.Add(hour), TriesAt: now.Add(15 * time.Minute), Stated: true}
	due := AccountLimit{Now: now, Since: now.Add(-hour), Until: now, TriesAt: now}
	tried := due
	tried.Try("a")
	gone := tried
	gone.End("a")
	early := reached(5 * day)
	early.Took = hour
	for name, row := range map[string]struct {
		l      AccountLimit
		id     job.ID
		r      ReachedRateLimit
		until  time.Duration
		stated bool
		isNew  bool
		// moves is true if the account's limit is another one then.
		moves bool
	}{
		"the API reports the end":                             {AccountLimit{Now: now}, "b", reached(hour), hour, true, true, true},
		"the API reports no end":                              {AccountLimit{Now: now}, "b", reached(0), second, false, true, true},
		"the reported end has passed":                         {AccountLimit{Now: now}, "b", reached(-hour), second, false, true, true},
		"the reported end is the beginning of time":           {AccountLimit{Now: now}, "b", ReachedRateLimit{ResetsAt: time.Unix(1, 0), Pauses: reached(0).Pauses}, second, false, true, true},
		"the reported end is years ahead":                     {AccountLimit{Now: now}, "b", reached(1000 * day), 8 * day, true, true, true},
		"another turn meets a known limit":                    {known, "b", reached(0), hour, true, false, false},
		"another turn meets a known limit that ends sooner":   {known, "b", reached(second), hour, true, false, false},
		"another turn meets a known limit that ends later":    {known, "b", reached(7 * day), 7 * day, true, false, true},
		"a turn meets a limit that was due":                   {due, "b", reached(0), second, false, false, true},
		"the turn that tries meets it":                        {tried, "a", reached(0), 2 * second, false, false, true},
		"another turn meets it while one tries":               {tried, "b", reached(hour), second, false, false, false},
		"a turn that began before the limit was found gone":   {gone, "b", early, 0, false, false, false},
		"a turn that began after the limit was found gone":    {gone, "b", reached(hour), hour, true, true, true},
		"a turn that began early, and there is another limit": {AccountLimit{Now: now, Until: now.Add(hour), Stated: true, Free: now}, "b", early, hour, true, false, false},
	} {
		was, is := row.l, row.l
		until, isNew := is.Reach(row.id, row.r)
		must.Equal(t, RateLimit{now.Add(row.until), row.stated}, until, name, ": the job waits")
		must.Equal(t, row.isNew, isNew, name, ": it is new")
		must.Equal(t, row.moves, is != was, name, ": it is another limit")
		if row.isNew {
			must.Equal(t, now, is.Since, name, ": since")
		}
	}
}

// After each failed try, the next one is later, up to the longest pause; but however late a limit claims to end, a
// turn tries before.
func TestWhenATurnTriesNext(t *testing.T) {
	t.Parallel()
	l := AccountLimit{Now: now}
	for _, want := range []time.Duration{second, 2 * second, 4 * second, 5 * second, 5 * second} {
		l.Reach("a", reached(0))
		wait, isTried := l.Wait()
		must.Equal(t, want, wait, "the pause")
		must.Equal(t, false, isTried, "a turn tries")
		l.Now = l.Now.Add(wait)
		ok, isTry := l.Try("a")
		must.Equal(t, true, ok && isTry, "the turn tries after", want)
	}
	l = AccountLimit{Now: now}
	l.Reach("a", reached(6*day))
	wait, _ := l.Wait()
	must.Equal(t, 15*time.Minute, wait, "the wait for a limit of days")
	must.Equal(t, now.Add(6*day), l.Until, "the end of the limit")
}

func TestOneTurnTries(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		before    func(l *AccountLimit) // a tries
		after     time.Duration
		grace     time.Duration
		ok, isTry bool // of b
	}{
		"while a tries":                          {func(*AccountLimit) {}, 0, 0, false, false},
		"while a may still run":                  {func(*AccountLimit) {}, tryLease - 1, 0, false, false},
		"once a's node is gone":                  {func(*AccountLimit) {}, tryLease, 0, true, true},
		"after an outage, while a may still run": {func(*AccountLimit) {}, tryLease, second, false, false},
		"after a has renewed its try":            {func(l *AccountLimit) { l.Now = now.Add(hour); l.RenewTry("a") }, hour, 0, false, false},
		"after a has found out nothing":          {func(l *AccountLimit) { l.StopTrying("a") }, 0, 0, true, true},
		"after a got through":                    {func(l *AccountLimit) { l.End("a") }, 0, 0, true, false},
		"after a met the limit":                  {func(l *AccountLimit) { l.Reach("a", reached(0)) }, 0, 0, false, false},
		"b cannot stop the try":                  {func(l *AccountLimit) { l.StopTrying("b") }, 0, 0, false, false},
		"b cannot end the limit":                 {func(l *AccountLimit) { must.Equal(t, false, l.End("b"), "b ends it") }, 0, 0, false, false},
		"b cannot renew the try":                 {func(l *AccountLimit) { l.Now = now.Add(hour); l.RenewTry("b") }, tryLease, 0, true, true},
		"b meeting the limit changes nothing":    {func(l *AccountLimit) { l.Reach("b", reached(hour)) }, tryLease, 0, true, true},
	} {
		l := AccountLimit{Now: now, Until: now}
		l.Try("a")
		again, isTry := l.Try("a")
		must.Equal(t, true, again && isTry, "a tries, and asks again because the answer was lost")
		row.before(&l)
		l.Now, l.Grace = now.Add(row.after), row.grace
		ok, isTry := l.Try("b")
		must.Equal(t, [2]bool{row.ok, row.isTry}, [2]bool{ok, isTry}, "b tries", name)
	}
}
