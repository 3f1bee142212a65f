package store

import (
	"context"

	"ringback/internal/job"
)

// KindDefinition returns what lifecycle.KeepKind has stored for a job; nil for nothing.
func (s *Store) KindDefinition(ctx context.Context, id job.ID, version string) ([]byte, error) {
	p, err := locate(id)
	if err != nil {
		return nil, err
	}
	text, err := s.rdb.Get(ctx, p.key("kind", version)).Bytes()
	if err != nil {
		return nil, storeError(ignoreNil(err))
	}
	return text, nil
}
