// Package contract describes what a server answers: an OpenAPI document of its endpoints,
// an AsyncAPI document of its WebSocket, and the tables of docs/api.md.
//
// It knows no endpoint. Routes and frames stand where they are served (packages api and
// callback), in the very tables that the router is built from, and their payloads are the
// Go types that are read and written there; the events of jobs stand in package lifecycle,
// the kinds come from package kind. Package server puts them together into a Contract.
// So what is served cannot be without its description.
//
// Schemas are reflected from the types. What their fields and values mean is said once, in
// the comments of the source: descriptions.json holds these comments, since a program has
// none of its own. go generate writes it, and a test holds it to the source.
//
// Examples are not made up: examples.json is what a test has sent to a real server, and
// what it was answered (go test ./test/contract -run EveryAnswer -update).
package contract

//go:generate go run ./describe descriptions.json ../api ../callback ../checkpoint ../hub ../job ../lifecycle ../store
