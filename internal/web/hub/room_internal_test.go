package hub

import (
	"log/slog"
	"strconv"
	"testing"

	"ringback/internal/store"
	"ringback/internal/store/storetest"
)

// The only live client leaves while what it missed is read, and another becomes
// live meanwhile: from where on is read does not change under the reader. Needs
// the race detector to tell.
func TestClientBecomesLiveWhileOthersCatchUp(t *testing.T) {
	t.Parallel()
	s, _ := storetest.InProcess(t, store.Options{})
	h := New(s, Options{}, slog.New(slog.DiscardHandler))
	t.Cleanup(h.close)
	for i := range 50 {
		r := &room{hub: h, userID: "u" + strconv.Itoa(i), clients: map[*client]bool{}, last: 3}
		next := &client{}
		r.clients[next] = false
		r.event(store.EventEnvelope{Seq: 5}) // 4 was missed
		if !r.goLive(next, 7, known{newest: 5}) {
			t.Fatal("a client that has read all there is does not become live")
		}
	}
}
