package console

import (
	"cmp"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"ringback/test/harness"
	"ringback/test/must"
	"ringback/test/sample"
)

// heaviest is the maximum number of bytes that a browser loads to show a page for the first
// time.
const heaviest = 100_000

var loaded = regexp.MustCompile(`(?:src|href)="(/static/[^"]+)"|from '\./([^']+)'`)

// The first view of each page is light, including everything it loads.
func TestTheFirstViewIsLight(t *testing.T) {
	t.Parallel()
	sample.OneIn(t, 3)
	s, views := everyPage(t)
	for _, v := range views {
		sum, seen := 0, map[string]bool{}
		for left := []string{v.path}; len(left) > 0; left = left[1:] {
			if seen[left[0]] {
				continue
			}
			seen[left[0]] = true
			text, size := download(t, s.URL+left[0])
			sum += size
			for _, found := range loaded.FindAllStringSubmatch(text, -1) {
				left = append(left, cmp.Or(found[1], path.Join(path.Dir(left[0]), found[2])))
			}
		}
		if len(seen) < 9 {
			t.Errorf("%s loads only %v", v.name, seen)
		}
		if sum > heaviest {
			t.Errorf("the first view of %s is %d bytes", v.name, sum)
		}
	}
}

// download returns a text, and the number of bytes transferred for it.
func download(t *testing.T, url string) (string, int) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	must.OK(t, err)
	req.Header.Set("Accept-Encoding", "gzip")
	req.Header.Set("Accept", asBrowser)
	resp, err := http.DefaultClient.Do(req)
	must.OK(t, err)
	defer resp.Body.Close()
	if strings.Contains(url, "/static/") {
		must.Equal(t, http.StatusOK, resp.StatusCode, url)
	}
	counted := &counter{from: resp.Body}
	var body io.Reader = counted
	if resp.Header.Get("Content-Encoding") == "gzip" {
		if body, err = gzip.NewReader(counted); err != nil {
			t.Fatal(err)
		}
	}
	text, err := io.ReadAll(body)
	must.OK(t, err)
	return string(text), counted.n
}

// counter counts the bytes that are read.
type counter struct {
	from io.Reader
	n    int
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.from.Read(p)
	c.n += n
	return n, err
}

// The time from an interaction to the next frame: on a timeline of 5,000 events, and on a
// change of 10,000 lines.
func BenchmarkInteraction(b *testing.B) {
	s := start(b, harness.Vars{"CLAUDE_BIN": longChange(b, 10_000)})
	change := createChange(b, s, repository(b, map[string]string{"greeting.txt": "hello\n"}))
	b.Run("diff of 10,000 lines", func(b *testing.B) {
		page := open(b, s, "/jobs/"+change+"/review")
		page.interact(b, `[data-place="service/long.go:100"]`, kb.Tab, "a")
	})
	id, envelope := s.Manual(b, nil, harness.Object{"kind": "media", "userId": "u1", "input": harness.Object{"prompt": "a lake"}})
	session := record(b, s, id)["sessionId"]
	for n := range 2500 {
		callback(b, s, "/api/claude/progress", envelope, harness.Object{"message": fmt.Sprint("report ", n), "progress": n % 100})
		s.Want(b, 200, harness.Request{Method: "POST", Path: "/from-llm", Body: harness.Object{"sessionId": session, "userId": "u1", "content": fmt.Sprint("message ", n)}})
	}
	b.Run("timeline of 5,000 events", func(b *testing.B) {
		page := open(b, s, "/jobs/"+id+"/timeline?all=1")
		page.interact(b, `.events > li:first-child time`, kb.Tab, kb.PageDown)
	})
}

// interact clicks something and presses keys, and reports the longest time to the next
// frame, and the page's loading time.
func (b *tab) interact(bench *testing.B, click string, keys ...string) {
	b.until("the page to be there", `document.readyState === "complete"`)
	b.is(`(window.longest = 0, new PerformanceObserver(list => { for (const one of list.getEntries()) window.longest = Math.max(window.longest, one.duration) }).observe({ type: "event", durationThreshold: 16, buffered: false }), true)`)
	for bench.Loop() {
		b.do(chromedp.Click(click))
		for _, key := range keys {
			b.do(chromedp.KeyEvent(key))
		}
	}
	var longest, whole float64
	for into, script := range map[*float64]string{&longest: `window.longest`, &whole: `performance.getEntriesByType("navigation")[0].loadEventEnd`} {
		found, err := within(b, chromedp.Evaluate[float64](script))
		must.OK(bench, err)
		*into = found
	}
	bench.ReportMetric(longest, "ms/longest-interaction")
	bench.ReportMetric(whole, "ms/load")
	bench.ReportMetric(0, "ns/op")
}
