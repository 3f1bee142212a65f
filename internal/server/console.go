package server

import (
	"net/http"

	"ringback/internal/api"
	"ringback/internal/console"
)

// newConsole returns the pages for people, which call the API of the same process.
func (n *node) newConsole(calls *api.Server, handler http.Handler) *console.Console {
	return console.New(console.Options{
		API: handler, Open: calls.Open(), Cookie: api.Cookie, SignIns: n.store,
		IdentifyFunc: func(credential string) (console.Identity, error) {
			who, err := calls.Identify(credential)
			return console.Identity(who), err
		},
		Mark: func(r *http.Request) *http.Request { return r.WithContext(api.ByConsole(r.Context())) },
	}, n.refusals)
}
