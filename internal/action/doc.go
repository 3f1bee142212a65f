// Package action runs what the server does for Claude: the command or webhook of
// an action of the job's kind (seed 000).
//
// Whether it may run is not decided here: store.Act has noted that it runs, and
// used up its approval, before this package sees it. An action whose server died
// is never run again; its outcome is booked as unknown.
package action
