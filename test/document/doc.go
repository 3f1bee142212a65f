// Package document generates the descriptions of the API that package contract embeds: an OpenAPI document of its
// endpoints, and an AsyncAPI document of its WebSocket, both without kinds. A test of package server
// generates the tables of docs/api.md from the same contract.
//
// It contains no endpoints. Routes are defined where they are served (packages api and callback), in the same tables
// that the router is built from, and their payloads are the Go types that are read and written there; the events of
// jobs are defined in package lifecycle. So nothing is served without being described.
//
// Schemas are derived from the types by reflection. The meaning of their fields and values is described only in the
// comments of the source, which are read from there.
//
// Examples are recorded: examples.json contains what a test sent to a real server and the responses (go test
// ./test/contract -run EveryAnswer -update).
package document
