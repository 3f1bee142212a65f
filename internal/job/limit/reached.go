package limit

import (
	"fmt"

	"ringback/internal/text/lazy"
)

// What programs print when they hit a limit of the system. They never name the limit, and
// some do not even mention that there is one.
var (
	noFork   = lazy.Regexp(`(?i)fork[^\n]{0,80}(resource temporarily unavailable|EAGAIN)|(cannot|can't|can not|unable to|failed to) (fork|start new thread|create new OS thread|create (new )?(native )?thread)|newosproc|pthread_create (failed|has failed)|spawn [^\n]{0,80}EAGAIN|BlockingIOError[^\n]{0,20}Errno 11`)
	noMemory = lazy.Regexp(`(?i)cannot allocate memory|out of memory|\bMemoryError\b|memory exhausted|std::bad_alloc|\bENOMEM\b|OutOfMemoryError|memory allocation of \d+ bytes failed`)
	noFile   = lazy.Regexp(`(?mi)(: |\] )file too large$|file size limit exceeded|\bEFBIG\b`)
)

// Reached describes the limit that a failed program has reached; "" for none. tooLarge is
// true if the system killed the program because of the size of a file; otherwise the
// program's output is the only evidence.
func (l Limits) Reached(tooLarge bool, printed string) string {
	switch {
	case tooLarge && l.FileSize > 0:
		return fmt.Sprintf("It was ended because a file that it wrote reached the limit of %s (file_size in limits of the kind).", l.FileSize)
	case l.FileSize > 0 && noFile().MatchString(printed):
		return fmt.Sprintf("It seems to have reached the limit of %s for the size of a file (file_size in limits of the kind).", l.FileSize)
	case l.Processes > 0 && noFork().MatchString(printed):
		return fmt.Sprintf("It seems to have reached the limit of %d processes and threads (processes in limits of the kind).", l.Processes)
	case l.Memory > 0 && noMemory().MatchString(printed):
		return fmt.Sprintf("It seems to have reached the limit of %s of memory for one process (memory in limits of the kind).", l.Memory)
	}
	return ""
}
