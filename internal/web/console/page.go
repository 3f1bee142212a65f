package console

import (
	"embed"
	"errors"
	"html/template"
	"io/fs"
	"path"
	"strings"
	"sync"
	"time"

	"ringback/client"
	"ringback/internal/job"
	"ringback/internal/text/lazy"
	"ringback/internal/text/literal"
	"ringback/internal/web/httpjson"
)

//go:embed templates
var templates embed.FS

// page is the data from which every page is rendered.
type page struct {
	Title string
	// Tab is the current entry of the navigation: overview, jobs, inbox or docs.
	Tab string
	// Watch selects the events that the page follows.
	Watch watch
	// Follow is set for a list that is kept in view: as long as the page is not scrolled, it shows
	// new entries at once, at the top.
	Follow bool
	Data   any

	// render fills in the rest.
	Who     job.Identity
	Open    bool
	Waiting int64
	Now     time.Time
	// AsText is set if texts are shown unrendered.
	AsText bool
}

// watch selects the events that make a page fetch itself again.
type watch struct {
	// UserID and RequestID select the events of a user and of one job; if RequestID is empty, all
	// events of the user count. A page without a UserID follows no events.
	UserID    string
	RequestID job.ID
}

func (v *visit) follow() watch {
	if v.Who.UserID != "" {
		return watch{UserID: v.Who.UserID}
	}
	return watch{UserID: "*"}
}

// pagesOf returns a function that parses the pages when it is first called: each with the layout and the
// parts. prose renders texts that may be Markdown.
func pagesOf(files static, prose func(string) template.HTML) func() map[string]*template.Template {
	return sync.OnceValue(func() map[string]*template.Template {
		base := template.Must(template.New("").Funcs(functions(files)).Funcs(template.FuncMap{"markdown": prose}).ParseFS(
			templates, "templates/layout.html", "templates/parts/*.html",
		))
		pages := map[string]*template.Template{}
		names, err := fs.Glob(templates, "templates/*.html")
		if err != nil {
			panic("console: " + err.Error()) // only a malformed pattern fails
		}
		for _, name := range names {
			if short := strings.TrimSuffix(path.Base(name), ".html"); short != "layout" {
				pages[short] = template.Must(template.Must(base.Clone()).ParseFS(templates, name))
			}
		}
		return pages
	})
}

func (v *visit) render(status int, name string, p page) error {
	p.Who, p.Open, p.Now = v.Who, v.console.opts.Open, time.Now()
	if p.Open || p.Who != (job.Identity{}) {
		// If it cannot be counted, the page itself shows what is wrong.
		p.Waiting, _ = v.api().CountCheckpoints(v.Request().Context(), client.CheckpointFilter{Status: job.Open})
	}
	pages := v.console.pages()
	if p.AsText = v.QueryParam("as") == "text"; p.AsText {
		pages = v.console.pagesAsText()
	}
	text := boundedBuffer{limit: mostPage}
	if err := pages[name].ExecuteTemplate(&text, "layout", p); errors.Is(err, errTooLong) {
		return job.Errorf(job.TooLarge, "This page would be longer than %d MiB", mostPage>>20).WithHint(
			"Read it in a terminal: ringback status, messages, diff and logs show the same.",
		)
	} else if err != nil {
		return err
	}
	return v.HTML(status, withPrefix(visible(text.String()), base(v.Request())))
}

// sentBack matches the parts of a page that the browser sends back: text from elsewhere contains no
// unescaped < and no unescaped quotation mark.
var sentBack = lazy.Regexp(` (?:value|name|data-[a-z]+)="[^"]*"|<textarea[^>]*>[^<]*`)

// visible returns a page on which no text can pose as another: each character that cannot be seen is
// replaced. Only what the browser sends back stays as it is, because it is what was asked about; next to
// values of others, the page shows such characters in another way.
func visible(page string) string {
	shown := literal.Text(page)
	if shown == page {
		return page
	}
	var out strings.Builder
	end := 0
	for _, at := range sentBack().FindAllStringIndex(page, -1) {
		out.WriteString(literal.Text(page[end:at[0]]) + strings.ReplaceAll(page[at[0]:at[1]], "\r\n", "\n"))
		end = at[1]
	}
	return out.String() + literal.Text(page[end:])
}

func (v *visit) asError(err error) *job.Error {
	e, _ := httpjson.AsError(err, v.Request())
	return e
}

func statusOf(e *job.Error) int { return job.HTTPStatus(e.Kind) }
