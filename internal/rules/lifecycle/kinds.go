package lifecycle

import (
	"context"
	"slices"

	"ringback/internal/job"
	"ringback/internal/rules/kind"
)

// maxEarlier is the maximum number of earlier versions of kinds that a node caches in memory.
// Others are read from the store again.
const maxEarlier = 64

// Kinds returns the current kinds, for new jobs. For the kind of a job, use KindOf.
func (s *Service) Kinds() *kind.Registry { return s.currentKinds.Load() }

// SetKinds replaces the current kinds. Jobs keep the versions that they have.
func (s *Service) SetKinds(current *kind.Registry) { s.currentKinds.Store(current) }

func (s *Service) current(name string) (*kind.Kind, bool) { return s.Kinds().Get(name) }

// Kind returns the current version of a kind that callers may request. For the kind of a job, use
// KindOf.
func (s *Service) Kind(name string) (*kind.Kind, bool) {
	k, ok := s.current(name)
	return k, ok && name != InterpretingKind
}

// KindNames lists the kinds that callers may request, in alphabetical order.
func (s *Service) KindNames() []string {
	return slices.DeleteFunc(s.Kinds().Names(), func(name string) bool { return name == InterpretingKind })
}

// KindOf returns the kind of a job in the job's own version, whatever the files of this node
// contain now. It reads the ID, Kind and KindVersion of the job.
//
// Errors: NotFound if that version is not stored, or if this node cannot read it; Unavailable while
// the store is unavailable.
func (s *Service) KindOf(ctx context.Context, j job.Job) (*kind.Kind, error) {
	if k, ok := s.current(j.Kind); ok && k.Version == j.KindVersion {
		return k, nil
	}
	if k, ok := s.earlierKinds.Get(j.KindVersion); ok {
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
		return nil, job.Errorf(
			job.NotFound, "This server cannot read the version %s of the kind %q: %v", job.ShortVersion(j.KindVersion), j.Kind,
			err,
		)
	}
	s.earlierKinds.Add(k.Version, k)
	return k, nil
}
