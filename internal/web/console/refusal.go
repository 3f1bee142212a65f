package console

import (
	"cmp"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"ringback/internal/job"
	"ringback/internal/web/console/form"
	"ringback/internal/web/httpjson"
)

// refusal is the data of a page that is shown instead of what was requested.
type refusal struct {
	*job.Error
	// Advice describes for people what to do.
	Advice string
	// Links are further pages, the most likely first.
	Links []pageLink
	// Again is true if the page fetches itself again after a while.
	Again bool
	// Kept contains texts that were sent but not used.
	Kept []written
}

type pageLink struct{ Path, Words string }

type written struct{ Label, Text string }

// Errors handles errors for which no page was reached, or for which there is none: with a page for
// people, and with programs for all other clients.
func (c *Console) Errors(programs echo.HTTPErrorHandler) echo.HTTPErrorHandler {
	return func(err error, ec echo.Context) {
		if httpjson.IsAnswered(err, ec) || !c.isForPerson(ec) {
			programs(err, ec)
			return
		}
		v := &visit{Context: ec, console: c}
		c.protect(ec.Response().Header())
		if cookie, missing := ec.Cookie(c.opts.Cookie); missing == nil && !c.opts.Open {
			v.identify(cookie.Value)
		}
		if v.fail(v.inWords(v.ofAnotherSite(err))) != nil {
			programs(err, ec)
		}
	}
}

// isForPerson reports whether a browser shows the response as a page: it accepts HTML, and the URL
// is not part of the API.
func (c *Console) isForPerson(ec echo.Context) bool {
	route := ec.Path()
	return (route == "" || c.routes[route]) && !strings.HasPrefix(ec.Request().URL.Path, "/api/") &&
		strings.Contains(ec.Request().Header.Get(echo.HeaderAccept), echo.MIMETextHTML)
}

// ofAnotherSite returns an error for what a page of another site sent; otherwise it returns err.
func (v *visit) ofAnotherSite(err error) error {
	if v.console.writes.Check(v.Request()) == nil {
		return err
	}
	return job.Errorf(job.Forbidden, "This was sent by a page of another site").WithHint(
		"Nothing was done. Open the console itself, and do it there.",
	)
}

// inWords replaces errors about the URL that are meant for programs.
func (v *visit) inWords(err error) error {
	known, ok := errors.AsType[*echo.HTTPError](err)
	switch {
	case ok && known.Code == http.StatusNotFound:
		return job.Errorf(job.NotFound, "There is no page at %s", v.Request().URL.Path)
	case ok && known.Code == http.StatusMethodNotAllowed:
		return job.Errorf(job.Method, "There is no page here")
	}
	return err
}

// mostSent is the size limit of a form, in bytes; mostUnread is how much more is read so that the
// browser shows the error page.
const mostSent, mostUnread = 4 << 20, 64 << 20

func (v *visit) sent() (url.Values, error) {
	r := v.Request()
	body := r.Body
	r.Body = http.MaxBytesReader(nil, body, mostSent)
	values, err := v.FormParams()
	if err == nil {
		return values, nil
	}
	if left, _ := io.Copy(io.Discard, io.LimitReader(body, mostUnread)); left > 0 || r.ContentLength > mostSent {
		return nil, job.Errorf(job.TooLarge, "The form is too large").
			WithHint("The limit is %d MiB. Nothing was done: go back, where your text still is, and shorten it.", mostSent>>20)
	}
	return nil, job.Errorf(job.Invalid, "The form could not be read").WithHint("Nothing was done. Go back, and send it again.")
}

func (v *visit) fail(err error) error {
	reading := v.Request().Method == http.MethodGet
	e := httpjson.Refuse(v.console.log, err, v)
	if e.Kind == job.Unauthorized && reading && !v.console.opts.Open {
		return v.askToSignIn()
	}
	if e.Kind == job.Invalid && reading && len(e.Details) > 0 {
		said := *e
		e, said.Message = &said, "Invalid URL parameters"
	}
	shown := refusal{Error: e, Advice: advice(e, reading), Links: v.waysOn(e), Again: reading && e.Kind == job.Unavailable}
	if e.Kind != job.Forbidden { // if forbidden, another site could have written it
		shown.Kept = v.kept()
	}
	return v.render(statusOf(e), "error", page{Title: e.Message, Data: shown})
}

func advice(e *job.Error, reading bool) string {
	said := hint(e.Hint)
	switch e.Kind {
	case job.NotFound:
		return cmp.Or(said, "It may have been removed, or the address is wrong.")
	case job.Unauthorized:
		return cmp.Or(said, "Sign in, and do it again.")
	case job.Unavailable:
		if reading {
			return "This page tries again by itself."
		}
		return cmp.Or(said, "Send it again in a few seconds.")
	case job.Method:
		return "This address only accepts submitted forms."
	default:
	}
	return said
}

func (v *visit) waysOn(e *job.Error) []pageLink {
	path := v.Request().URL.Path
	var links []pageLink
	if back := v.cameFrom(); v.Request().Method != http.MethodGet {
		if e.Kind == job.Unauthorized {
			links = append(links, pageLink{"/sign-in?next=" + url.QueryEscape(cmp.Or(back, "/")), "Sign in"})
		} else if back != "" && back != path {
			links = append(links, pageLink{back, "Back to the page"})
		}
	} else if e.Kind == job.Invalid && v.Request().URL.RawQuery != "" {
		links = append(links, pageLink{path, "Show it without the filter"})
	} else if e.Kind == job.Unavailable || e.Kind == job.Internal || e.Kind == job.TooMany {
		links = append(links, pageLink{localPath(v.Request().URL.RequestURI()), "Try again"})
	}
	return append(append(links, pagesNear(path, e)...), pageLink{"/", "To the overview"})
}

// pagesNear returns the pages that a path is likely to be meant for.
func pagesNear(path string, e *job.Error) []pageLink {
	switch about, below, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/"); {
	case about == "jobs" && e.Kind == job.Method:
		id, _, _ := strings.Cut(below, "/")
		return []pageLink{{here.Job(job.ID(id), ""), "To the job"}}
	case about == "jobs" && strings.HasPrefix(below, "new/"):
		return []pageLink{{"/jobs/new", "All kinds"}}
	case about == "jobs" && below != "":
		return []pageLink{{"/jobs", "All jobs"}}
	case about == "inbox" && below != "":
		return []pageLink{{"/inbox", "To the inbox"}}
	}
	return nil
}

// cameFrom returns the page that sent the request; empty if it is not one of ours.
func (v *visit) cameFrom() string {
	from, err := url.Parse(v.Request().Referer())
	if err != nil || from.Host != v.Request().Host {
		return ""
	}
	return localPath(strings.TrimPrefix(from.RequestURI(), base(v.Request())))
}

// kept returns the texts of a form that was sent, as far as it could be read, so that the visitor
// can copy them.
func (v *visit) kept() []written {
	if v.Request().Method != http.MethodPost || v.Request().URL.Path == "/sign-in" {
		return nil
	}
	sent, _ := v.sent()
	return writtenIn(sent)
}

func writtenIn(sent url.Values) []written {
	var all []written
	for _, name := range slices.Sorted(maps.Keys(sent)) {
		label := map[string]string{"text": "Your words", "prompt": "What to change", "input": "The input"}[name]
		if place, ok := strings.CutPrefix(name, commentPrefix); ok {
			label = place
		} else if pointer, ok := form.IsValue(name); ok {
			label = cmp.Or(job.FieldLabel("", pointer[strings.LastIndexByte(pointer, '/')+1:]), "The input")
		}
		for _, text := range sent[name] {
			if label != "" && strings.TrimSpace(text) != "" {
				all = append(all, written{label, strings.ReplaceAll(text, "\r\n", "\n")})
			}
		}
	}
	return all
}
