package fault

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ringback/test/must"
)

// journal records what the players of Claude, the people and the clients did and received.
// It is a file, because most of them are processes that are killed.
type journal struct {
	t   testing.TB
	dir string
}

// note is one line of it.
type note struct {
	Time time.Time `json:"time"`
	// Job is the job's id, and Who the author of the note.
	Job string `json:"job"`
	Who string `json:"who"`
	// What is one of the constants that invariants refer to.
	What string `json:"what"`
	// Value distinguishes notes of the same kind.
	Value string `json:"value,omitempty"`
}

// The kinds of notes. "accepted" means answered with 200.
const (
	acceptedProgress = "progress accepted"
	acceptedResult   = "result accepted"
	turnBegan        = "turn began"
	turnEnded        = "turn ended"
	toolRan          = "tool ran"        // something that a person must approve, done by Claude
	sentApproval     = "approval sent"   // it may have arrived, whatever the response was
	acceptedReply    = "reply accepted"  // value: <decision> <checkpoint> <more>
	acceptedCancel   = "cancel accepted" // by a client
	sentMessage      = "message sent"    // by a user, to a job that had ended
	acceptedMessage  = "message accepted"
	heardMessage     = "message heard" // by Claude
	answered         = "answered"      // what Claude received, for the history
)

func (j *journal) file() string { return filepath.Join(j.dir, "journal") }

// witness returns the file in which the action of the kind acting records each of its runs.
func (j *journal) witness() string { return filepath.Join(j.dir, "witness") }

// write adds a line. It is a single write to a file that is opened for appending, so lines
// of several processes do not mix.
func (j *journal) write(job, who, what, value string) {
	line, _ := json.Marshal(note{time.Now(), job, who, what, value})
	f, err := os.OpenFile(j.file(), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return
	}
	defer f.Close()
	_, _ = f.Write(append(line, '\n'))
}

// read returns all notes by job, including those of the witness.
func (j *journal) read() map[string][]note {
	all := map[string][]note{}
	f := must.Get(os.Open(j.file()))(j.t)
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var n note
		if err := json.Unmarshal(lines.Bytes(), &n); err != nil {
			j.t.Fatalf("the journal holds %q: %v", lines.Text(), err)
		}
		all[n.Job] = append(all[n.Job], n)
	}
	return all
}

// runs returns the number of runs seen by the witness, by job.
func (j *journal) runs() map[string]int {
	text, _ := os.ReadFile(j.witness())
	counts := map[string]int{}
	for line := range strings.Lines(string(text)) {
		counts[strings.TrimSpace(line)]++
	}
	return counts
}

// counts returns the number of notes of each kind.
func (j *journal) counts() map[string]int {
	counts := map[string]int{}
	for _, notes := range j.read() {
		for _, n := range notes {
			counts[n.What]++
		}
	}
	for _, n := range j.runs() {
		counts["action ran"] += n
	}
	return counts
}

// of returns the values of a job's notes of one kind.
func of(notes []note, what string) []string {
	var values []string
	for _, n := range notes {
		if n.What == what {
			values = append(values, n.Value)
		}
	}
	return values
}

func (n note) String() string {
	return fmt.Sprintf("%s %-8s %s %s", n.Time.Format("15:04:05.000"), n.Who, n.What, n.Value)
}
