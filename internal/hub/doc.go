// Package hub fans events out to WebSocket clients: see "WebSocket" in docs/api.md for
// what they see.
//
// Each node has one subscription to the store, whose events reach the hub by Event. An
// event is encoded once and shared by all clients of its user, who make up a room.
//
// Each event names the one before it. By that a room knows that it has missed one, as
// soon as the next one arrives, and reads it from the store: clients see every event once
// and in order, whatever node they are connected to. A client that asks for the past
// (since) reads it from the store first, page by page, and joins the live ones of its room
// at the moment at which it has caught up, under the room's lock, so that nothing falls
// between.
//
// A store may lose its latest events (a failover, an older file). Ids are never given
// twice, so what a client has heard last either is in the store's past or is not: then it
// is told (resync), and goes on from where the store is.
//
// No client can slow another down: each has a queue of its own and one goroutine that
// writes it. Whose queue is full is closed (CloseSlow), and may resume where it was.
package hub
