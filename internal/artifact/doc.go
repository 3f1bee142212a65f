// Package artifact finds, lists, opens and prunes the files that a job's processes
// left in their working directory. Whoever writes there is not trusted: no symbolic
// link is followed, whatever is swapped meanwhile; only regular files with one name
// are seen, none whose path begins with a dot in any part, and only so many.
package artifact
