package store_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"

	"ringback/internal/rules/lifecycle"
	"ringback/internal/store"
	"ringback/internal/store/storetest"
	"ringback/test/must"
)

// The output of turns reads the same after they have ended, and takes far less space.
func TestATranscriptIsPackedWhenItsTurnHasEnded(t *testing.T) {
	t.Parallel()
	storetest.OnBoth(t, lifecycle.Options{}, func(t *testing.T, s *storetest.Service, rdb redis.UniversalClient) {
		ctx := t.Context()
		j := must.Get(s.Start(ctx, newJob("u")))(t)
		j.Turn = 3
		stored := func() (bytes int) {
			for _, key := range rdb.Keys(ctx, "*:transcript:*").Val() {
				bytes += int(rdb.StrLen(ctx, key).Val())
			}
			return bytes
		}
		read := func() string {
			return must.Get(s.Transcripts.Read(ctx, j))(t)
		}
		var printed strings.Builder
		for i := range 200 {
			line := fmt.Sprintf(`{"type":"assistant","message":{"content":[{"type":"text","text":"line %d"}]}}`+"\n", i)
			must.OK(t, s.Transcripts.Write(ctx, j.ID, 1, int64(printed.Len()), []byte(line)))
			printed.WriteString(line)
		}
		if err := s.Transcripts.Write(ctx, j.ID, 3, 0, []byte("{\"cut\":")); err != nil { // the output ended within a line
			t.Fatal(err)
		}
		must.OK(t, s.Transcripts.WriteStderr(ctx, j.ID, 3, []byte("killed")))
		before, size := read(), stored()
		if !strings.HasPrefix(before, printed.String()) {
			t.Errorf("before it is packed, it reads %.200s", before)
		}
		for range 2 { // the second time, there is nothing to do; turn 2 has printed nothing
			for turn := 1; turn <= 3; turn++ {
				must.OK(t, s.Transcripts.Pack(ctx, j.ID, turn))
			}
		}
		must.Equal(t, before, read(), "packed, it reads")
		if now := stored(); now*5 > size {
			t.Errorf("of %d bytes, %d are stored", size, now)
		}
	})
}

// What is printed beyond the limit is left out, and the transcript says so, whatever it was cut at.
func TestALongTranscriptSaysThatItIsCut(t *testing.T) {
	t.Parallel()
	storetest.OnBoth(t, lifecycle.Options{}, func(t *testing.T, s *storetest.Service, _ redis.UniversalClient) {
		ctx := t.Context()
		line := []byte(`{"type":"assistant","text":"` + strings.Repeat("x", 10_000) + `"}` + "\n")
		for name, pieces := range map[string][][]byte{
			"lines":          slices.Repeat([][]byte{line}, 300),
			"an exact fit":   {bytes.Repeat([]byte("0123456\n"), store.TranscriptLimit/8), line, line},
			"an endless one": {bytes.Repeat([]byte("x"), store.TranscriptLimit/2), bytes.Repeat([]byte("x"), store.TranscriptLimit), line},
		} {
			for _, turn := range []int{1, 20} {
				j := must.Get(s.Start(ctx, newJob(name)))(t)
				j.Turn = turn
				offset := int64(0)
				for _, piece := range pieces {
					for range 2 { // the answer of the first was lost
						must.OK(t, s.Transcripts.Write(ctx, j.ID, turn, offset, piece))
					}
					offset += int64(len(piece))
				}
				must.OK(t, s.Transcripts.Pack(ctx, j.ID, turn))
				text := must.Get(s.Transcripts.Read(ctx, j))(t)
				if n := strings.Count(text, "the rest is left out"); n != 1 || int64(len(text)) > store.KeptOutput(turn)+200 || int64(len(text)) < store.KeptOutput(turn)-11_000 {
					t.Errorf("%s, turn %d: %d bytes, %d times cut; the end is %q", name, turn, len(text), n, text[max(0, len(text)-150):])
				}
			}
		}
	})
}
