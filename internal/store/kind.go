package store

import (
	"context"

	"ringback/internal/job"
)

// KindDefinition returns the definition that lifecycle.KeepKind stored for a version; nil if there
// is none.
func (s *Store) KindDefinition(ctx context.Context, id job.ID, version string) ([]byte, error) {
	text, err := s.rdb.Get(ctx, PartitionOf(id).key("kind", version)).Bytes()
	return text, ignoreNil(err)
}
