// Package backup writes and reads the archive of an installation: the files of its store as they were at one
// moment, and what belongs to jobs in the data directory.
//
// An archive is a tar file, compressed by gzip. It begins with a manifest, and ends with the SHA-256 digests of its
// files, so that a truncated archive is recognized. `tar -xzf` and `sha256sum -c SHA256SUMS` read it, too.
package backup

import (
	"path"
	"slices"
	"strings"
)

// Part is a part of a data directory.
type Part struct {
	// Path is a pattern of path.Match, for a file, or for a directory and what it contains. The first that
	// matches decides.
	Path string
	// Kept is true if a backup contains it.
	Kept bool
	Why  string
	// links is true if a job may have made links there, which a backup contains as links.
	links bool
}

// Parts are all parts of a data directory.
var Parts = []Part{
	{Path: "redis/appendonlydir", Kept: true, Why: "the embedded store at one moment: jobs, questions, audit logs, transcripts"},
	{Path: "redis/appendonly.aof", Kept: true, Why: "the same before Redis 7"},
	{Path: "redis", Why: "the lock, the socket and the log of the embedded Redis"},
	{Path: "conversations", Kept: true, Why: "the conversations with Claude in the sandbox; the store has copies of the small ones"},
	{Path: "workspaces/*/caches", Why: "downloads of package managers"},
	{Path: "workspaces/*/tree", Kept: true, links: true, Why: "repositories as jobs have changed them; the store has small changes"},
	{Path: "workspaces", Kept: true, Why: "the server's own clones of these repositories"},
	{Path: "nodes/*/node", Kept: true, Why: "the name by which the store knows that the files are here"},
	{Path: "nodes/*/jobs/*/work", Kept: true, links: true, Why: "files of jobs, also those that are served after their end"},
	{Path: "nodes/*/jobs/*/turn-*.json", Why: "the processes of running turns: they belong to the original"},
	{Path: "nodes/*/jobs/*/caches", Why: "downloads of package managers"},
	{Path: "nodes/*/jobs/*/copies", Why: "copies of the CLI's settings and login"},
	{Path: "nodes/*/jobs", Kept: true, Why: "what running turns have printed"},
	{Path: "nodes", Why: "locks"},
	{Path: "mirrors", Why: "copies of repositories, which are fetched again"},
}

// partOf returns the part that a slash-separated path belongs to. It returns the zero Part, which is not kept,
// for anything else, such as files of the operator.
func partOf(name string) Part {
	for _, p := range Parts {
		if covers(p.Path, name) {
			return p
		}
	}
	return Part{}
}

// covers reports whether a path is what a pattern matches, or below it.
func covers(pattern, name string) bool {
	depth := strings.Count(pattern, "/") + 1
	parts := strings.SplitN(name, "/", depth+1)
	if len(parts) < depth {
		return false
	}
	is, err := path.Match(pattern, strings.Join(parts[:depth], "/"))
	return is && err == nil
}

// leadsToKept reports whether a directory that is not kept contains something that is.
func leadsToKept(dir string) bool {
	return slices.ContainsFunc(Parts, func(p Part) bool {
		parts, depth := strings.Split(p.Path, "/"), strings.Count(dir, "/")+1
		return p.Kept && len(parts) > depth && covers(strings.Join(parts[:depth], "/"), dir)
	})
}

// Tops returns the names at the top of a data directory, the store last: without it, nothing else counts.
func Tops() (names []string) {
	for _, p := range slices.Backward(Parts) {
		if top, _, _ := strings.Cut(p.Path, "/"); !slices.Contains(names, top) {
			names = append(names, top)
		}
	}
	return names
}
