package guard

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"ringback/internal/job"
	"ringback/test/must"
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
		if told, failed := strings.Count(text.String(), "refused"), strings.Count(text.String(), "failed"); told != refusalBurst || failed != 1 {
			t.Errorf("of 10,000 refusals, %d were told, want %d; of one failure %d", told, refusalBurst, failed)
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

// While the store is away, each message about it is logged a few times and then counted, whoever logs it;
// what else happens is logged as ever.
func TestAnUnavailableStoreFillsNoLog(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var text strings.Builder
		log := ThinnedLog(slog.New(slog.NewTextHandler(&text, nil)))
		away := fmt.Errorf("claiming: %w", job.Errorf(job.Unavailable, "The store is not reachable"))
		for range 100 {
			log.With("node", "n").Error("taking a job", "error", away)
			log.Warn("heartbeat failed", "error", away)
			log.Error("job failed", "error", errors.New("another"))
			log.Info("job created")
		}
		for message, want := range map[string]int{
			"taking a job": thinnedBurst, "heartbeat failed": thinnedBurst, "job failed": 100, "job created": 100,
		} {
			must.Equal(t, want, strings.Count(text.String(), message), message)
		}
		text.Reset()
		time.Sleep(thinnedEvery)
		log.Error("taking a job", "error", away)
		must.Contain(t, text.String(), "suppressed=97")
	})
}

// A job that fails in the same way again and again fills no log, and hides nothing of another job.
func TestRepetitionsOfOneCauseFillNoLog(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var text strings.Builder
		log := ThinnedLog(slog.New(slog.NewTextHandler(&text, nil)))
		noisy := log.With("requestId", "noisy")
		for range 500 {
			noisy.Warn("a line was refused")
			log.Warn("a call failed", "requestId", "noisy")
		}
		log.Warn("a line was refused", "requestId", "quiet")
		log.With("requestId", "quiet").Warn("a call failed")
		for line, want := range map[string]int{
			`"a line was refused" requestId=noisy`: repeatedBurst, `"a call failed" requestId=noisy`: repeatedBurst,
			`"a line was refused" requestId=quiet`: 1, `"a call failed" requestId=quiet`: 1,
		} {
			must.Equal(t, want, strings.Count(text.String(), line), line)
		}
		text.Reset()
		time.Sleep(repeatedEvery)
		noisy.Warn("a line was refused")
		must.Contain(t, text.String(), "suppressed=400")
	})
}
