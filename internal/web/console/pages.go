package console

import (
	"cmp"
	"encoding/json"
	"html/template"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"ringback/client"
	"ringback/internal/job"
	"ringback/internal/text/literal"
)

// leaveView describes the target of a link that Claude or a user wrote. Before, Host and Behind
// together are the URL, in ASCII: other scripts are encoded as browsers send them, so that no
// letter can pose as another.
type leaveView struct {
	Before, Host, Behind string
	// Address is the whole URL.
	Address string
	// Own is set if the host is that of this server, where a job may be listening.
	Own bool
	// Written is the host as written, if that differs.
	Written string
	// User is the user info before the host, which could be taken for the host; empty if none.
	User string
	// Plain is set if the connection is not encrypted.
	Plain bool
}

// leavePath returns the path of the page that replaces an external URL in a link.
func leavePath(address string) string { return "/leave?to=" + url.QueryEscape(address) }

func (c *Console) leave(v *visit) error {
	to, err := url.Parse(v.QueryParam("to"))
	if err == nil {
		if shown, ok := newLeave(to, v.Request().Host); ok {
			return v.render(http.StatusOK, "leave", page{Title: "A link", Data: shown})
		}
	}
	return job.Errorf(job.Invalid, "This is not a web address")
}

// newLeave describes a URL; it returns false if that is not a web URL. own is the host of this
// server.
func newLeave(to *url.URL, own string) (leaveView, bool) {
	written := to.Hostname()
	host, ok := literal.Host(to)
	if !ok {
		return leaveView{}, false
	}
	shown := leaveView{Before: to.Scheme + "://", Host: host, Plain: to.Scheme == "http"}
	if host != strings.ToLower(written) {
		shown.Written = written
	}
	if strings.Contains(host, ":") {
		shown.Host = "[" + host + "]"
	}
	if to.Port() != "" {
		shown.Host += ":" + to.Port()
	}
	if to.User != nil {
		shown.User = to.User.String()
		shown.Before += shown.User + "@"
	}
	rest := *to
	rest.Scheme, rest.User, rest.Host = "", nil, ""
	shown.Behind = rest.String()
	shown.Address = shown.Before + shown.Host + shown.Behind
	shown.Own = isOwn(host, own)
	return shown, true
}

// isOwn reports whether a host may be that of this server. Different names can mean the same
// machine; uncertain cases return true.
func isOwn(host, own string) bool {
	if name, _, err := net.SplitHostPort(own); err == nil {
		own = name
	}
	host, own = strings.TrimSuffix(host, "."), strings.ToLower(strings.Trim(strings.TrimSuffix(own, "."), "[]"))
	ip := net.ParseIP(host)
	switch {
	case ip == nil && isNumeric(host), host == own, isLoopback(host) && isLoopback(own):
		return true
	}
	return ip != nil && ip.Equal(net.ParseIP(own))
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || ip != nil && (ip.IsLoopback() || ip.IsUnspecified())
}

// isNumeric reports whether browsers parse a host as another spelling of an IPv4 address: 0x7f.1 or
// 2130706433.
func isNumeric(host string) bool {
	last := host[strings.LastIndexByte(host, '.')+1:]
	return last != "" && strings.Trim(last, "0123456789abcdefx") == "" && last[0] >= '0' && last[0] <= '9'
}

// linkAttributes are the attributes of an external link: the target site does not learn the page,
// and cannot access its window.
const linkAttributes template.HTMLAttr = `rel="nofollow noreferrer noopener" target="_blank"`

type docsView struct {
	openAPI
	Events []docsMessage
}

// docs shows the contracts of the server, with the kinds that the visitor may see.
func (c *Console) docs(v *visit) error {
	api, err := client.Call[openAPI](v.Request().Context(), v.api(), http.MethodGet, "/openapi.json", nil)
	if err != nil {
		return err
	}
	events, err := client.Call[asyncAPI](v.Request().Context(), v.api(), http.MethodGet, "/asyncapi.json", nil)
	if err != nil {
		return err
	}
	byTitle := func(a, b docsMessage) int { return cmp.Compare(a.Title, b.Title) }
	view := docsView{api.Value, slices.SortedFunc(maps.Values(events.Value.Channels.Events.Messages), byTitle)}
	return v.render(http.StatusOK, "docs", page{Title: "API", Tab: "docs", Data: view})
}

// openAPI is the server's contract for HTTP, as far as pages show it.
type openAPI struct {
	Tags []struct {
		Name        string `json:"name"`
		Description string `json:"description"`
	} `json:"tags"`
	// Paths are the endpoints by path and method.
	Paths map[string]map[string]docsOperation `json:"paths"`
	// Components contains what operations refer to.
	Components struct {
		Responses map[string]docsContent `json:"responses"`
	} `json:"components"`
}

// Answer returns a response that may refer to one of the components.
func (a openAPI) Answer(r docsContent) docsContent {
	if name, refers := strings.CutPrefix(r.Ref, "#/components/responses/"); refers {
		return a.Components.Responses[name]
	}
	return r
}

type docsOperation struct {
	Name       string   `json:"operationId"`
	Tags       []string `json:"tags"`
	Summary    string   `json:"summary"`
	Parameters []struct {
		Name        string `json:"name"`
		In          string `json:"in"`
		Description string `json:"description"`
	} `json:"parameters"`
	Body      docsContent            `json:"requestBody"`
	Responses map[string]docsContent `json:"responses"`
}

// Has reports whether the endpoint is in the section of a tag.
func (o docsOperation) Has(tag string) bool { return slices.Contains(o.Tags, tag) }

// Brief returns the endpoint's purpose in a few words.
func (o docsOperation) Brief() string {
	end := strings.IndexAny(o.Summary+".", ".:;(")
	return strings.ReplaceAll(strings.TrimSpace(o.Summary[:min(end, len(o.Summary))]), "`", "")
}

type docsContent struct {
	// Ref refers to one of the components instead, if it is set.
	Ref         string `json:"$ref"`
	Description string `json:"description"`
	Content     map[string]struct {
		Example json.RawMessage `json:"example"`
	} `json:"content"`
}

// Example returns the example of JSON; nil if there is none.
func (c docsContent) Example() json.RawMessage { return c.Content["application/json"].Example }

// asyncAPI is the server's contract for WebSockets, as far as pages show it.
type asyncAPI struct {
	Channels struct {
		Events struct {
			Messages map[string]docsMessage `json:"messages"`
		} `json:"events"`
	} `json:"channels"`
}

type docsMessage struct {
	Title    string `json:"title"`
	Summary  string `json:"summary"`
	Examples []struct {
		Payload json.RawMessage `json:"payload"`
	} `json:"examples"`
}
