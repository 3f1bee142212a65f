package console

import (
	"embed"
	"errors"
	"html/template"
	"io/fs"
	"path"
	"strings"
	"time"

	"ringback/client"
	"ringback/internal/httpjson"
	"ringback/internal/job"
	"ringback/internal/literal"
)

//go:embed templates
var templates embed.FS

// page is what every page is rendered from.
type page struct {
	// Title is that of the window.
	Title string
	// Tab is which entry of the navigation is current: overview, jobs, inbox or docs.
	Tab string
	// Watch says whose events the page is to follow.
	Watch watch
	// Follow is whether the page shows what is new at once, above what is there, as long as
	// nobody has scrolled: a list that is watched.
	Follow bool
	// Data is what the page itself shows.
	Data any

	// The rest is filled in by render.
	Who     Identity
	Open    bool
	Waiting int64
	Now     time.Time
	// AsText is set if texts are shown as they were written.
	AsText bool
}

// watch says which events make a page fetch itself anew.
type watch struct {
	// UserID is whose events, RequestID those of one job; all of the user's where it is
	// empty. A page with no UserID follows none.
	UserID    string
	RequestID job.ID
}

// follow watches all that the visitor may see.
func (v *visit) follow() watch {
	if v.Who.UserID != "" {
		return watch{UserID: v.Who.UserID}
	}
	return watch{UserID: "*"}
}

// parsePages reads the templates: each page with the layout and the parts. prose shows texts
// that may be Markdown.
func parsePages(files static, prose func(string) template.HTML) map[string]*template.Template {
	base := template.Must(template.New("").Funcs(functions(files)).Funcs(template.FuncMap{"markdown": prose}).ParseFS(templates, "templates/layout.html", "templates/parts/*.html"))
	pages := map[string]*template.Template{}
	names, err := fs.Glob(templates, "templates/*.html")
	if err != nil {
		panic("console: " + err.Error()) // only a malformed pattern fails
	}
	for _, name := range names {
		short := strings.TrimSuffix(path.Base(name), ".html")
		if short != "layout" {
			pages[short] = template.Must(template.Must(base.Clone()).ParseFS(templates, name))
		}
	}
	return pages
}

// render shows a page.
func (v *visit) render(status int, name string, p page) error {
	p.Who, p.Open, p.Now = v.Who, v.console.opts.Open, time.Now()
	if p.Open || p.Who != (Identity{}) {
		// Where it cannot be counted, the page itself says what is wrong.
		p.Waiting, _ = v.api().CountCheckpoints(v.Request().Context(), client.CheckpointFilter{Status: job.Open})
	}
	pages := v.console.pages
	if p.AsText = v.QueryParam("as") == "text"; p.AsText {
		pages = v.console.pagesAsText()
	}
	text := boundedBuffer{limit: mostPage}
	if err := pages[name].ExecuteTemplate(&text, "layout", p); errors.Is(err, errTooLong) {
		return job.Errorf(job.TooLarge, "This page would be longer than %d MiB", mostPage>>20).WithHint("Read it in a terminal: ringback status, messages, diff and logs show the same.")
	} else if err != nil {
		return err
	}
	return v.HTML(status, withPrefix(literal.Text(text.String()), prefix(v.Request()))) // whatever stands where, no text poses as another
}

// asError is what a page says of an error.
func (v *visit) asError(err error) *job.Error {
	e, _ := httpjson.AsError(err, v.Request())
	return e
}

// statusOf is the status of a page that shows an error.
func statusOf(e *job.Error) int { return httpjson.Status(e.Kind) }
