package store_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"ringback/internal/rules/lifecycle"
	"ringback/internal/store/storetest"
	"ringback/test/must"
)

// A snapshot of many pieces is read as it was written, and replaces the previous one. One with a
// missing piece does not exist.
func TestSnapshotInPieces(t *testing.T) {
	t.Parallel()
	storetest.OnBoth(t, lifecycle.Options{}, func(t *testing.T, s *storetest.Service, rdb redis.UniversalClient) {
		ctx := t.Context()
		j := must.Get(s.Start(ctx, newJob("u")))(t)
		saveHead := func(parts map[string]any) error { return s.SaveChange(ctx, j.ID, lifecycle.Holder{}, parts) }
		for turn, size := range []int{5 << 20, 1, 1 << 20} {
			want := json.RawMessage(strings.Repeat("x", size))
			must.OK(t, s.Changes.SaveSnapshot(ctx, j.ID, turn+1, want, saveHead))
			if got, err := s.Changes.Snapshot(ctx, j.ID); err != nil || !bytes.Equal(got, want) {
				t.Errorf("read %d bytes of %d: %v", len(got), size, err)
			}
		}
		must.Equal(t, 1, len(rdb.Keys(ctx, "*:snapshot:*").Val()), "snapshots are kept")
		rdb.LPop(ctx, keysLike(t, rdb, "*:snapshot:*"))
		if got, err := s.Changes.Snapshot(ctx, j.ID); err != nil || got != nil {
			t.Errorf("read %d bytes: %v", len(got), err)
		}
		if err := s.Changes.SaveSnapshot(ctx, j.ID, 4, nil, saveHead); err != nil { // too large to be kept
			t.Fatal(err)
		}
		if got, err := s.Changes.Snapshot(ctx, j.ID); err != nil || got != nil {
			t.Errorf("read %d bytes: %v", len(got), err)
		}
	})
}

// The copy of a conversation is valid for one turn only.
func TestConversationIsKeptByItsTurn(t *testing.T) {
	t.Parallel()
	storetest.OnBoth(t, lifecycle.Options{}, func(t *testing.T, s *storetest.Service, _ redis.UniversalClient) {
		ctx := t.Context()
		j := must.Get(s.Start(ctx, newJob("u")))(t)
		text := []byte(strings.Repeat("a line\n", 1000))
		first, second := lifecycle.NameTurn(j.ID, 1), lifecycle.NameTurn(j.ID, 2)
		size, kept, err := s.Transcripts.SaveConversation(ctx, j, "c", first, text, 1000)
		if err != nil || !kept || size > 1000 {
			t.Fatalf("kept %v, %d bytes: %v", kept, size, err)
		}
		if got, err := s.Transcripts.Conversation(ctx, j.ID, "c", first, 7000); err != nil || !bytes.Equal(got, text) {
			t.Errorf("read %d bytes: %v", len(got), err)
		}
		if got, err := s.Transcripts.Conversation(ctx, j.ID, "c", second, 7000); err != nil || got != nil {
			t.Errorf("of another turn %d bytes are read: %v", len(got), err)
		}
		if got, err := s.Transcripts.Conversation(ctx, j.ID, "c", first, 6999); err == nil {
			t.Errorf("%d bytes are read of what is too large", len(got))
		}
		if _, kept, err := s.Transcripts.SaveConversation(ctx, j, "c", second, text, 10); err != nil || kept {
			t.Errorf("what is too large is kept: %v", err)
		}
		if got, err := s.Transcripts.Conversation(ctx, j.ID, "c", first, 7000); err != nil || got != nil {
			t.Errorf("an older copy is left: %d bytes, %v", len(got), err)
		}
	})
}
