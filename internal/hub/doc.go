// Package hub fans events out to WebSocket clients. Each node has one
// subscription to the store; an event is encoded once and shared by all
// listeners of its user. The ids of a user's events have no gaps, so a missed
// event is noticed by the next one and read from the store: clients see every
// event once and in order, whatever node they are connected to.
package hub
