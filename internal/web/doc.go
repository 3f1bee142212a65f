// Package web groups the packages that serve HTTP. Back ends, browsers and the terminal call api;
// Claude calls callback, with the signature of its job; browsers follow events over the WebSockets of hub
// and open the pages of console.
//
// A request passes guard, which limits rates and connections, and apikey, which knows who calls. httpjson
// reads its body and writes errors; contract describes all endpoints and events. Nothing is decided here:
// each handler calls internal/rules/lifecycle or internal/people/checkpoint.
package web
