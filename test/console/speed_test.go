package console

import (
	"cmp"
	"compress/gzip"
	"io"
	"net/http"
	"path"
	"regexp"
	"strings"
	"testing"

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
