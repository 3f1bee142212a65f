package console

import (
	"bytes"
	"html/template"
	"strings"
	"unicode"

	"github.com/microcosm-cc/bluemonday"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"
)

var (
	reader = goldmark.New(goldmark.WithExtensions(extension.Table, extension.Strikethrough, extension.Linkify))
	// sanitiser lets no image through, for it would be loaded from elsewhere, nor any
	// class or style.
	sanitiser = func() *bluemonday.Policy {
		p := bluemonday.NewPolicy()
		p.AllowElements("p", "br", "hr", "h1", "h2", "h3", "h4", "h5", "h6", "blockquote", "ul", "ol", "li", "pre", "code", "em", "strong", "del",
			"table", "thead", "tbody", "tr", "th", "td")
		p.AllowAttrs("href").OnElements("a")
		p.AllowURLSchemes("http", "https", "mailto")
		p.RequireParseableURLs(true)
		p.RequireNoFollowOnLinks(true)
		p.RequireNoReferrerOnLinks(true)
		p.AddTargetBlankToFullyQualifiedLinks(true)
		return p
	}()
)

// mostMarkdown is the longest text that is read as Markdown, in bytes: longer ones are
// shown as they are.
const mostMarkdown = 64 << 10

// markdown is a text of a model's or a user's as a page shows it.
func markdown(text string) template.HTML {
	var out bytes.Buffer
	if len(text) > mostMarkdown || reader.Convert([]byte(text), &out) != nil {
		return template.HTML(`<pre class="plain">` + template.HTMLEscapeString(text) + `</pre>`) //nolint:gosec // it is escaped
	}
	return template.HTML(sanitiser.SanitizeBytes(out.Bytes())) //nolint:gosec // it is sanitised
}

// visible makes characters seen that change how others are shown (bidirectional controls)
// or are not shown at all, so that a text cannot pose as another.
func visible(text string) string {
	return strings.Map(func(r rune) rune {
		if isVisible(r) {
			return r
		}
		return '\ufffd'
	}, text)
}

// isVisible reports whether a character is seen, or is a space that is. The one that joins
// emoji into one is let be.
func isVisible(r rune) bool {
	return r == '\n' || r == '\t' || r == '\r' || r == '\u200d' || !unicode.In(r, unicode.Cf, unicode.Cc)
}
