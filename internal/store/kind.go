package store

import (
	"context"

	"ringback/internal/job"
)

// KindDefinition returns the definition that lifecycle.KeepKind stored for a version; nil if there
// is none.
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
