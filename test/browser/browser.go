// Package browser opens pages in a headless chromium, for tests of web pages.
package browser

import (
	"context"
	"os"
	"os/exec"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"

	"ringback/test/harness"
)

// browser is shared by all tests of a package. The first test starts it.
var (
	browser  context.Context
	starting sync.Once
	failed   error
)

// Main is harness.Main for tests that open tabs.
func Main(m *testing.M) int {
	options := []chromedp.ExecAllocatorOption{chromedp.NoSandbox, chromedp.Flag("disable-dev-shm-usage", true)}
	if path := chromium(); path != "" {
		options = append(options, chromedp.ExecPath(path))
	}
	var end context.CancelFunc
	browser, end = chromedp.NewContext(context.Background(), chromedp.WithAllocatorOptions(options...))
	defer end()
	return harness.Main(m)
}

// chromium returns the path of the browser; empty for none. Debian's
// chromium-headless-shell takes half as long as its chromium.
func chromium() string {
	for _, name := range []string{"chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// Open opens a tab until the test ends, with its own cookies and storage. The test is
// skipped if there is no chromium, unless CI is set.
func Open(t testing.TB) context.Context {
	t.Helper()
	if chromium() == "" {
		if os.Getenv("CI") == "" {
			t.Skip("chromium is not installed: run make deps")
		}
		t.Fatal("chromium is not installed")
	}
	starting.Do(func() { failed = chromedp.Do(browser) })
	if failed != nil {
		t.Fatalf("the browser does not start: %v", failed)
	}
	tab, end := chromedp.NewContext(browser, chromedp.WithNewBrowserContext())
	t.Cleanup(end)
	if err := chromedp.Do(tab); err != nil { // the tab lives as long as the context of its first action
		t.Fatal(err)
	}
	return tab
}
