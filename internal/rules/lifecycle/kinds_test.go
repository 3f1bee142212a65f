package lifecycle_test

import (
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"ringback/internal/job"
	"ringback/internal/rules/kind"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/store/storetest"
	"ringback/test/must"
)

// node returns another node on the same store, or the same one after a restart, that has these
// files.
func (s *jobs) node(contents map[string]string) *jobs {
	s.t.Helper()
	files := fstest.MapFS{}
	for name, text := range contents {
		files[name] = &fstest.MapFile{Data: []byte(text)}
	}
	kinds := storetest.Kinds(s.t, kind.Source{Prompts: files, Schemas: files, Dir: "/first"})
	return &jobs{lifecycle.New(s.store, kinds, lifecycle.Options{KindsDir: "/second"}), s.store, s.t, s.redis}
}

func (s *jobs) kindOf(id job.ID) *kind.Kind {
	s.t.Helper()
	return must.Get(s.KindOf(s.t.Context(), s.get(id)))(s.t)
}

func TestAJobKeepsTheVersionOfItsKind(t *testing.T) {
	t.Parallel()
	base := newJobs(t, lifecycle.Options{})
	morning := base.node(map[string]string{"own.md": "---\nmax_turns: 7\n---\nAs of the morning."})
	old := morning.create(request("own"))
	must.Equal(t, "/first", morning.kindOf(old).Dir, "where it was created, its programs lie in")
	noon := base.node(map[string]string{"own.md": "As of noon."})
	another := request("own")
	another.UserID = "u2"
	recent := noon.create(another)
	without := base.node(map[string]string{"other.md": "Another."})
	for _, node := range []*jobs{morning, noon, without} {
		if got := node.kindOf(old); got.Prompt != "As of the morning." || got.Policy.MaxTurns != 7 {
			t.Errorf("the old job has the prompt %q and %d turns", got.Prompt, got.Policy.MaxTurns)
		}
		must.Equal(t, "As of noon.", node.kindOf(recent).Prompt, "the new job has the prompt")
	}
	must.Equal(t, "/second", without.kindOf(old).Dir, "elsewhere, its programs lie in")
	if a, b := base.get(old).KindVersion, base.get(recent).KindVersion; a == b || len(a) != 64 {
		t.Errorf("the versions are %s and %s", a, b)
	}
	morning.fail(old)
	must.Equal(t, "As of the morning.", without.kindOf(without.follower(old, "Go on")).Prompt, "a follow-up has another version")
}

// A version is stored as long as a job needs it, and no longer.
func TestAVersionGoesWithItsLastJob(t *testing.T) {
	t.Parallel()
	s := newJobs(t, lifecycle.Options{Retention: time.Millisecond})
	first, second := s.create(request("plain")), s.create(request("plain"))
	version := s.get(first).KindVersion
	for _, id := range []job.ID{first, second} {
		if text, err := s.store.KindDefinition(t.Context(), id, version); err != nil || len(text) == 0 {
			t.Errorf("with a job left, the definition is %q, %v", text, err)
		}
		must.OK(t, s.Cancel(t.Context(), id, job.Actor{}))
		for gone := false; !gone; { // once its retention is over
			must.OK(t, s.Fire(t.Context(), lifecycle.ExpiredClock{Clock: lifecycle.PurgeClock, Ref: string(id)}))
			_, err := s.store.Get(t.Context(), id)
			gone = job.HasKind(err, job.NotFound)
		}
	}
	if text, err := s.store.KindDefinition(t.Context(), second, version); err != nil || text != nil {
		t.Errorf("without a job, the definition is %q, %v", text, err)
	}
	if left := s.redis.Client.Keys(t.Context(), "*:kind*:*"+version).Val(); len(left) > 0 {
		t.Errorf("left are %q", left)
	}
}

// A new job does not send a version that is stored. If the last other job is purged before the commit,
// the version is stored again.
func TestAVersionThatGoesWhileAJobIsCreated(t *testing.T) {
	t.Parallel()
	s := newJobs(t, lifecycle.Options{})
	first := s.create(request("plain"))
	version := s.get(first).KindVersion
	purge := sync.OnceFunc(func() {
		keys := s.redis.Client.Keys(t.Context(), "*:kind:"+version).Val()
		must.Equal(t, 1, len(keys), "definitions")
		must.OK(t, s.redis.Client.Del(t.Context(), keys...).Err())
	})
	s.redis.Client.AddHook(scriptHook(func(send func() error) error {
		purge() // after the load, before the commit
		return send()
	}))
	second := s.create(request("plain"))
	if text, err := s.store.KindDefinition(t.Context(), second, version); err != nil || len(text) == 0 {
		t.Errorf("the definition is %q, %v", text, err)
	}
}
