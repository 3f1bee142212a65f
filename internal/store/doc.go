// Package store keeps all state in Redis. It loads what a decision needs and commits what was
// decided; package lifecycle makes the decisions.
//
// Load reads a job and everything its rules depend on, as one consistent snapshot, with Redis'
// time. Commit writes the difference, using one script for all transitions (lua/commit.lua):
// guards, plain commands, events. A guard fails if anything that was read has changed since; then
// nothing is written, and the decision is made again. So no reader ever sees a record without its
// event or the other effects of a transition, and no update is lost.
//
// There are separate scripts only for speed (a progress report is one round trip) and for selection
// (the next turn, what is due, what a lost node held). They only select; what happens next is a
// commit like any other.
//
// A job belongs to the partition of its user; its ID contains the partition. All keys of a
// partition share a hash tag, so the scripts also work on Redis Cluster. keys.txt lists the keys;
// lifecycle.Record and its neighbours list the fields.
package store
