// Package store keeps all state in Redis: it loads what a decision needs and commits what
// was decided. It decides nothing: package lifecycle does.
//
// Load reads a job with what its rules look at, at one moment and with Redis' time. Commit
// writes the difference, by one script for all transitions (lua/commit.lua): guards, plain
// commands, events. A guard fails where anything that was read has changed since; then
// nothing is written, and the decision is made anew. So a record, its event and whatever
// else a transition does are never seen without each other, and no update is lost.
//
// Scripts of their own have only what is about speed (a progress report is one round trip)
// or about picking (the next turn, what is due, what a lost node held). They pick; what
// then happens is a commit like any other.
//
// A job lives in the partition of its user; its id names the partition. All keys of a
// partition share a hash tag, which makes the scripts work on Redis Cluster as well.
// keys.go lists the keys, lifecycle.Record and its neighbours the fields.
package store
