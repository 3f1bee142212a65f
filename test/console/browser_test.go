// Package console tests the pages for people in a real browser, against the real server
// with the simulated Claude.
package console

import (
	"context"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"

	"ringback/test/browser"
	"ringback/test/harness"
	"ringback/test/must"
)

func TestMain(m *testing.M) { os.Exit(browser.Main(m)) }

// tab is a page in a separate browser, without any state of other tests.
type tab struct {
	t   testing.TB
	ctx context.Context //nolint:containedctx // a tab is its context
	url string
}

// action is a step in a tab.
type action = chromedp.Action[chromedp.Void]

// desktop is a large screen.
func desktop() action { return chromedp.EmulateViewport(1280, 900) }

// phone is a small screen.
func phone() action { return chromedp.EmulateViewport(360, 740, chromedp.EmulateScale(2)) }

// colours selects a colour scheme: light or dark.
func colours(scheme string) action {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}})
		return err
	})
}

// noScript disables JavaScript.
func noScript() action {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
		return err
	})
}

// before runs a script before those of each page.
func before(script string) action {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: script})
		return err
	})
}

func open(t testing.TB, s *harness.Server, path string, options ...action) *tab {
	t.Helper()
	b := &tab{t, browser.Open(t), s.URL}
	b.do(append([]action{desktop()}, options...)...)
	b.visit(path)
	return b
}

// disturbances are the errors of an action that the page itself has disturbed: it replaced a
// node between the search for it and the click, or went to another page at the same time.
var disturbances = []string{"Could not find node with given id", "net::ERR_ABORTED"}

func (b *tab) do(actions ...action) {
	b.t.Helper()
	var err error
	for range 5 {
		_, err = within(b, chromedp.Steps(actions...))
		if err == nil || !slices.ContainsFunc(disturbances, func(one string) bool { return strings.Contains(err.Error(), one) }) {
			break
		}
	}
	if err != nil {
		b.t.Fatalf("%v; the page is %s:\n%s", err, b.address(), b.text())
	}
}

// within runs an action in a tab, with a timeout.
func within[T any](b *tab, a chromedp.Action[T]) (T, error) {
	ctx, stop := context.WithTimeout(b.ctx, harness.Patience)
	defer stop()
	return chromedp.Run(ctx, a)
}

func (b *tab) visit(path string) {
	b.t.Helper()
	b.do(chromedp.Navigate(b.url + path))
}

func (b *tab) address() string {
	address, _ := within(b, chromedp.Location())
	return address
}

// text returns the visible text of the page.
func (b *tab) text() string {
	text, _ := within(b, chromedp.Evaluate[string](`document.body ? document.body.innerText : ""`))
	return text
}

// sees waits until the page contains all of these.
func (b *tab) sees(words ...string) {
	b.t.Helper()
	b.awaits("the page to say "+strings.Join(words, ", "), func() bool {
		text := b.text()
		for _, word := range words {
			if !strings.Contains(text, word) {
				return false
			}
		}
		return true
	})
}

// loses waits until the page no longer contains a text.
func (b *tab) loses(word string) {
	b.t.Helper()
	b.awaits("the page to say no longer "+word, func() bool { return !strings.Contains(b.text(), word) })
}

func (b *tab) awaits(what string, ok func() bool) {
	b.t.Helper()
	for end := time.Now().Add(harness.Patience); !ok(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			b.t.Fatalf("waited in vain for %s; the page is %s:\n%s", what, b.address(), b.text())
		}
	}
}

// until waits until JavaScript returns true.
func (b *tab) until(what, script string) {
	b.t.Helper()
	b.awaits(what, func() bool { return b.is(script) })
}

// comments writes a comment on a line. An event may move the line away from the first click.
func (b *tab) comments(place, text string) {
	b.t.Helper()
	b.awaits("the control for a comment on "+place, func() bool {
		b.do(chromedp.Click(`[data-place="` + place + `"]`))
		return b.is(`document.activeElement.name === "comment:` + place + `"`)
	})
	b.do(chromedp.KeyEvent(text))
}

// press clicks the first button or link with this text.
func (b *tab) press(words string) {
	b.t.Helper()
	b.do(chromedp.Click(`(//main|//header|//dialog)//*[self::button or self::a or self::summary][contains(normalize-space(.), "` + words + `")]`))
}

// fill replaces the value of the control that a CSS selector finds.
func (b *tab) fill(selector, text string) {
	b.t.Helper()
	b.do(chromedp.SetValue(selector, text))
}

// value evaluates JavaScript that returns a text.
func (b *tab) value(script string) string {
	b.t.Helper()
	return must.Get(within(b, chromedp.Evaluate[string](script)))(b.t)
}

// is evaluates JavaScript that returns a boolean or a promise of one.
func (b *tab) is(script string) bool {
	b.t.Helper()
	return must.Get(within(b, chromedp.Evaluate[bool](script, chromedp.EvalAwaitPromise)))(b.t)
}

// must reports a fault of the page unless JavaScript returns true, and mustNot if it does.
func (b *tab) must(script, fault string, args ...any) {
	b.t.Helper()
	if !b.is(script) {
		b.t.Errorf(fault, args...)
	}
}

func (b *tab) mustNot(script, fault string, args ...any) {
	b.t.Helper()
	if b.is(script) {
		b.t.Errorf(fault, args...)
	}
}

// key presses a key, once the page's scripts have run.
func (b *tab) key(key string) {
	b.t.Helper()
	b.until("the page to be there", `document.readyState === "complete"`)
	b.do(chromedp.KeyEvent(key))
}

// faults returns the serious problems that axe finds on the page.
func (b *tab) faults(axe string) []string {
	b.t.Helper()
	must.Get(within(b, chromedp.Evaluate[bool](axe+"; true")))(b.t)
	const run = `axe.run({ resultTypes: ["violations"] }).then(found => found.violations
		.filter(one => one.impact === "serious" || one.impact === "critical")
		.flatMap(one => one.nodes.map(node => one.id + ": " + one.help + ": " + node.html.slice(0, 200) + " " + node.failureSummary)))`
	return must.Get(within(b, chromedp.Evaluate[[]string](run, chromedp.EvalAwaitPromise)))(b.t)
}

// screenshot takes a picture of the whole page.
func (b *tab) screenshot(file string) {
	b.t.Helper()
	// Elements fixed at the bottom of the window belong at the end of the picture, and what is out of
	// sight in it, too.
	b.is(`(document.styleSheets[0].insertRule(".say { position: static !important }"), document.styleSheets[0].insertRule(".patch, .events.full, .transcript > li { content-visibility: visible !important }"), true)`)
	picture, err := within(b, chromedp.FullScreenshot(100))
	if err == nil {
		err = os.WriteFile(file, picture, 0o600)
	}
	must.OK(b.t, err)
}
