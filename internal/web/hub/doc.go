// Package hub fans events out to WebSocket clients. "WebSocket" in docs/api.md describes what
// clients see.
//
// Each node has one subscription to the store, which delivers events through Event. An event
// is encoded once and shared by all clients of its user: a room.
//
// Each event names its predecessor. A room therefore detects a missed event as soon as the
// next one arrives, and reads it from the store: clients see every event once and in order,
// whichever node they are connected to. A client that asks for past events (since) first reads
// them from the store, page by page. Once it has caught up, it joins the live clients of its
// room under the room's lock, so that no event is lost in between.
//
// A store may lose its latest events (a failover, an older file). Ids are never reused, so the
// last event that a client received either exists in the store or does not. If it does not,
// the client receives a resync frame and continues from the store's latest event.
//
// No client can slow down another: each has its own queue, and a goroutine that writes it. A
// client with a full queue is disconnected (CloseSlow) and may resume later. An idle client has
// no goroutine (input_linux.go).
package hub
