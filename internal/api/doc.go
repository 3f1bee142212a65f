// Package api serves back ends and people: creating, reading and steering jobs,
// and the WebSocket. Callbacks live in internal/callback.
package api
