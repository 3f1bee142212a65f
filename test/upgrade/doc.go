// Package upgrade is the room of stores that outlive their servers' versions: it starts the servers of earlier commits,
// which it builds from the repository's history, and today's on what these have left.
package upgrade
