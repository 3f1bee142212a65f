package guard

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// Rejected requests must neither fill the log nor hide anything important in it.
func TestStrangersFillNoLog(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var text bytes.Buffer
		log := BoundedLog(slog.New(slog.NewTextHandler(&text, nil)))
		for range 10_000 {
			log.With("address", "192.0.2.1").Info("request refused")
		}
		log.Error("request failed")
		if told, failed := strings.Count(text.String(), "refused"), strings.Count(text.String(), "failed"); told != toldBurst || failed != 1 {
			t.Errorf("of 10,000 refusals, %d were told, want %d; of one failure %d", told, toldBurst, failed)
		}
		text.Reset()
		time.Sleep(time.Minute)
		log.Info("request refused")
		log.Info("request refused")
		if got := text.String(); strings.Count(got, "suppressed=9900") != 1 || strings.Count(got, "refused") != 2 {
			t.Errorf("a minute later the log says\n%s", got)
		}
	})
}
