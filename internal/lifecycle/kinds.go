package lifecycle

import (
	"context"
	"slices"
	"sync/atomic"

	lru "github.com/hashicorp/golang-lru/v2"

	"ringback/internal/job"
	"ringback/internal/kind"
)

// maxEarlier is how many versions of kinds that are not current a node holds in memory. Others
// are read from the store once more.
const maxEarlier = 64

// kinds are the current kinds, which new jobs get, and the earlier versions that jobs have kept.
type kinds struct {
	current *atomic.Pointer[kind.Registry]
	earlier *lru.Cache[string, *kind.Kind] // by version
}

func newKinds(current *kind.Registry) kinds {
	earlier, err := lru.New[string, *kind.Kind](maxEarlier)
	if err != nil {
		panic("lifecycle: " + err.Error()) // the size is ours
	}
	k := kinds{new(atomic.Pointer[kind.Registry]), earlier}
	k.current.Store(current)
	return k
}

// Kinds returns the current kinds, which new jobs get. The kind of a job is KindOf.
func (s *Service) Kinds() *kind.Registry { return s.kinds.current.Load() }

func (s *Service) current(name string) (*kind.Kind, bool) { return s.Kinds().Get(name) }

// Kind returns the current version of a kind that callers may ask for. The kind of a job is
// KindOf.
func (s *Service) Kind(name string) (*kind.Kind, bool) {
	k, ok := s.current(name)
	return k, ok && name != InterpretingKind
}

// KindNames lists the kinds that callers may ask for, in alphabetical order.
func (s *Service) KindNames() []string {
	return slices.DeleteFunc(s.Kinds().Names(), func(name string) bool { return name == InterpretingKind })
}

// KindOf returns the kind of a job in the version that the job keeps, whatever the files of
// this node hold by now. Of the job, ID, Kind and KindVersion are read.
//
// Errors: NotFound if that version is not stored, or if this node cannot read it; Unavailable
// while the store is away.
func (s *Service) KindOf(ctx context.Context, j job.Job) (*kind.Kind, error) {
	if k, ok := s.current(j.Kind); ok && k.Version == j.KindVersion {
		return k, nil
	}
	if k, ok := s.kinds.earlier.Get(j.KindVersion); ok {
		return k, nil
	}
	text, err := s.store.KindDefinition(ctx, j.ID, j.KindVersion)
	if err != nil {
		return nil, err
	}
	if text == nil {
		return nil, job.Errorf(job.NotFound, "The version %q of the kind %q is not stored", job.ShortVersion(j.KindVersion), j.Kind)
	}
	k, err := kind.Restore(j.KindVersion, text, s.opts.KindsDir)
	if err != nil {
		return nil, job.Errorf(job.NotFound, "This server cannot read the version %s of the kind %q: %v", job.ShortVersion(j.KindVersion), j.Kind, err)
	}
	s.kinds.earlier.Add(k.Version, k)
	return k, nil
}
