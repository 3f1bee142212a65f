// Package store keeps all state in Redis. Every change of a job is one Lua
// script (lua/*.lua): it checks the state, writes the record, appends the
// event and publishes it, so that none of these is ever seen without the
// others.
//
// A job lives in the partition of its user; its id names the partition. All
// keys of a partition share a hash tag, which makes the scripts work on Redis
// Cluster as well. lua/event.lua lists the keys.
package store
