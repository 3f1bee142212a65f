package console

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"ringback/test/harness"
	"ringback/test/must"
	"ringback/test/sample"
)

// narrow is a small screen, or a large one at 400 % zoom.
func narrow() action { return chromedp.EmulateViewport(320, 640) }

// medium emulates a medium, such as print or forced colours.
func medium(name, feature, value string) action {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Media: name, Features: []*emulation.MediaFeature{{Name: feature, Value: value}}})
		return err
	})
}

// Long names, long words and right-to-left text fit on the smallest screen, and no text
// changes the direction of the words around it.
func TestUnusualTextFits(t *testing.T) {
	t.Parallel()
	sample.OneIn(t, 3)
	kind := strings.Repeat("k", 63)
	s := start(t, harness.Vars{"HOLD": "1ms", "PROMPTS_DIR": kinds(t, map[string]string{kind + ".md": carefulKind})})
	user := strings.Repeat("u", 100)
	id, envelope := s.Manual(t, nil, harness.Object{"kind": kind, "userId": user, "input": harness.Object{"שלום": strings.Repeat("w", 300)}})
	const hebrew = "שלום עולם, 3 קבצים (main.go) שונו!"
	say(t, s, id, hebrew+"\n\nand an English paragraph.")
	callback(t, s, "/api/claude/progress", envelope, harness.Object{"message": hebrew + strings.Repeat("w", 200), "progress": 50})
	callback(t, s, "/api/claude/checkpoints", envelope, harness.Object{"type": "information_request", "message": hebrew + strings.Repeat("w", 200)})
	question := questionOf(t, s, id)
	b := open(t, s, "/", narrow())
	for _, path := range []string{"/", "/jobs", "/jobs/new", "/jobs/new/" + kind, "/jobs/" + id, "/jobs/" + id + "/timeline", "/jobs/" + id + "/transcript", "/jobs/" + id + "/audit", "/inbox", "/inbox/" + question, "/approvals?user=" + user, "/docs", "/jobs/new/" + strings.Repeat("x", 200)} {
		b.visit(path)
		must.Equal(t, "320", b.value(`String(document.documentElement.scrollWidth)`), path, "is this wide")
		if dir := os.Getenv("SCREENSHOTS"); dir != "" {
			b.screenshot(filepath.Join(dir, "unusual-"+strings.ReplaceAll(path[:min(len(path), 30)], "/", "_")+".png"))
		}
	}
	b.visit("/jobs/" + id + "/audit")
	b.must(`(tab => { const box = tab.getBoundingClientRect(); return box.left >= 0 && box.right <= innerWidth })(document.querySelector(".tabs [aria-current]"))`,
		"the current tab is out of sight")
	b.visit("/jobs/" + id)
	b.must(`(paragraphs => {
		const side = (paragraph) => { const range = document.createRange(); range.selectNodeContents(paragraph); const box = range.getBoundingClientRect(), outer = paragraph.getBoundingClientRect(); return box.left - outer.left > outer.right - box.right ? "right" : "left"; };
		return side(paragraphs[0]) === "right" && side(paragraphs[1]) === "left";
	})([...document.querySelectorAll(".message .prose p, .message .sentence")].slice(-3))`, "a paragraph does not begin at its own side")
}

// In print, the whole page is shown, without controls; with forced colours, the current
// item is still distinguishable.
func TestOtherMedia(t *testing.T) {
	t.Parallel()
	sample.OneIn(t, 3)
	s := start(t, nil)
	id := createChange(t, s, repository(t, map[string]string{"greeting.txt": "hello\n"}))
	b := open(t, s, "/jobs/"+id+"/review", medium("print", "prefers-color-scheme", "dark"))
	b.sees("SIMULATED.md")
	for what, script := range map[string]string{
		"the navigation": `getComputedStyle(document.querySelector(".bar")).display === "none"`,
		"a form":         `getComputedStyle(document.getElementById("decide")).display === "none"`,
		"white paper":    `getComputedStyle(document.documentElement).backgroundColor === "rgb(255, 255, 255)"`,
	} {
		b.must(script, "on paper, %s is not as it should be", what)
	}
	b.do(medium("screen", "forced-colors", "active"))
	b.must(`getComputedStyle(document.querySelector("#nav [aria-current]")).outlineStyle === "solid"`,
		"with forced colours, nothing shows which page is current")
	b.do(medium("screen", "prefers-reduced-motion", "reduce"))
	b.visit("/jobs")
	b.mustNot(`document.getAnimations().length > 0`, "something moves for whoever wants nothing to")
}
