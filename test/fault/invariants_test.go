package fault

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"ringback/test/harness"
)

func decode(text []byte, into any) error { return json.Unmarshal(text, into) }

// evidence is everything known about one job.
type evidence struct {
	*jobSeen
	record object
	events []object
	notes  []note
	// ran is the number of the action's runs according to the witness.
	ran int
	// pushed is the job's branch; zero if there is none.
	pushed pushed
	// setBack is how often the store may have gone back to an earlier state, so that
	// servers repeat what they had done. undone is how often it may have lost that an
	// approval was used.
	setBack, undone int
}

// status returns the job's final state.
func (e *evidence) status() string { s, _ := e.record["status"].(string); return s }

// result returns a field of Claude's result.
func (e *evidence) result(field string) string {
	result, _ := e.record["result"].(object)
	text, _ := result[field].(string)
	return text
}

// invariant describes what is wrong with a job; "" for nothing.
type invariant struct {
	name  string
	holds func(*evidence) string
}

var invariants = []invariant{
	{"a job ends as its people and its Claude have decided", endsAsDecided},
	{"an accepted report is an event, once", reportsAreEvents},
	{"an accepted result is the job's", resultIsKept},
	{"a job has one terminal event", endsOnce},
	{"what a person was asked for reaches Claude as they said it", replyReachesClaude},
	{"an action runs at most once for each approval, and never without one", actionsAreApproved},
	{"a tool call runs at most once for each approval, and never without one", toolsAreApproved},
	{"an approved change is pushed once, as it was shown; no other is", changesArePushed},
	{"a message that was accepted is heard by Claude", messagesAreHeard},
}

// checkJobs checks all jobs against the invariants.
func (w *world) checkJobs(jobs []*jobSeen) {
	harness.Eventually(w.t, "all processes of the jobs to end", func() bool { return w.processes() == 0 })
	notes, runs, branches := w.journal.read(), w.journal.runs(), w.repos.branches()
	for _, j := range jobs {
		e := w.evidenceOf(j, notes)
		e.ran, e.pushed = runs[j.id], branches[j.id]
		delete(branches, j.id)
		for _, i := range invariants {
			if fault := i.holds(e); fault != "" {
				w.broken(j, i.name, "%s", fault)
			}
		}
	}
	for id := range branches {
		if _, gone := w.gone.Load(id); gone {
			continue
		}
		w.t.Errorf("there is a branch of %s, which nobody asked for", id)
	}
	w.checkNobodyElse(jobs)
}

func (w *world) evidenceOf(j *jobSeen, notes map[string][]note) *evidence {
	e := &evidence{jobSeen: j, record: w.ask(http.MethodGet, "/api/jobs/"+j.id, nil).body, events: w.list("/api/jobs/"+j.id+"/events", "events")}
	e.isCutOff = isCutOff(j, e.events)
	e.notes, e.setBack = w.promised(notes[j.id]), w.losses.count()
	if w.mayLose() {
		e.undone = e.setBack
	}
	for _, id := range j.follows {
		for _, n := range notes[id] {
			if n.What == heardMessage {
				e.notes = append(e.notes, n)
			}
		}
	}
	return e
}

// isCutOff reports whether the first events of a job are gone because its user has more than the store keeps.
// That takes one who floods the queue.
func isCutOff(j *jobSeen, events []object) bool {
	if j.user != noisy || len(events) == 0 {
		return j.user == noisy
	}
	name, _ := events[0]["event"].(string)
	data, _ := events[0]["data"].(object)
	return !strings.HasSuffix(name, ":pending") || data["lastFailure"] != nil
}

// checkNobodyElse looks for jobs that no client created.
func (w *world) checkNobodyElse(jobs []*jobSeen) {
	known := map[string]bool{}
	for _, j := range jobs {
		known[j.id] = true
	}
	cursor := ""
	for {
		page := w.ask(http.MethodGet, "/api/jobs?limit=500&fields=requestId,kind,status&cursor="+cursor, nil)
		items, _ := page.body["jobs"].([]any)
		for _, item := range items {
			if id, _ := item.(object)["requestId"].(string); !known[id] {
				w.t.Errorf("there is a job that nobody asked for: %v", item)
			}
		}
		if cursor, _ = page.body["nextCursor"].(string); cursor == "" {
			return
		}
	}
}

func endsAsDecided(e *evidence) string {
	want := []string{"received"}
	if cancels := of(e.notes, acceptedCancel); len(cancels) > 0 {
		want = []string{"cancelled"}
	} else if e.flow == flowCancel {
		want = []string{"received", "cancelled"} // the response may have been lost
	}
	if e.flow == flowChange {
		want = []string{"received", "rejected"}
		for _, reply := range of(e.notes, acceptedReply) {
			switch decision, _, _ := strings.Cut(reply, " "); decision {
			case "approve":
				want = []string{"received"}
			case "reject":
				want = []string{"rejected"}
			}
		}
	}
	if !slices.Contains(want, e.status()) {
		return fmt.Sprintf("it is %s, want %v", e.status(), want)
	}
	return ""
}

func reportsAreEvents(e *evidence) string {
	if e.isCutOff {
		return ""
	}
	count := map[string]int{}
	for _, event := range e.events {
		if name, _ := event["event"].(string); strings.HasSuffix(name, ":activity") {
			data, _ := event["data"].(object)
			message, _ := data["message"].(string)
			count[message]++
		}
	}
	for _, message := range of(e.notes, acceptedProgress) {
		if count[message] != 1 {
			return fmt.Sprintf("%q was accepted and has %d events", message, count[message])
		}
	}
	return ""
}

func resultIsKept(e *evidence) string {
	for _, value := range of(e.notes, acceptedResult) {
		var fields map[string]string
		if err := json.Unmarshal([]byte(value), &fields); err != nil {
			return err.Error()
		}
		for name, text := range fields {
			if changes(e.flow) { // a later round replaces it, and a review may reject it
				continue
			}
			if e.status() != "received" || e.result(name) != text {
				return fmt.Sprintf("%q was accepted, but the job is %s with %v", text, e.status(), e.record["result"])
			}
		}
	}
	return ""
}

func endsOnce(e *evidence) string {
	if e.isCutOff {
		return ""
	}
	ends := 0
	for _, event := range e.events {
		if name, _ := event["event"].(string); isTerminal(name) {
			ends++
		}
	}
	if ends != 1 {
		return fmt.Sprintf("it has %d", ends)
	}
	return ""
}

func replyReachesClaude(e *evidence) string {
	if e.flow != flowQuestion && e.flow != flowForm || e.status() != "received" {
		return ""
	}
	replies := of(e.notes, acceptedReply)
	if len(replies) == 0 {
		return ""
	}
	// If a response is lost at the end of its way, the client sends again: the last reply
	// counts.
	if last, _ := strings.CutPrefix(replies[len(replies)-1], "values "); !strings.HasPrefix(last, e.result("value")+" ") {
		return fmt.Sprintf("%s was accepted, but Claude heard %s", last, e.result("value"))
	}
	return ""
}

func actionsAreApproved(e *evidence) string {
	approvals := len(of(e.notes, sentApproval))
	switch {
	case e.flow != flowAction:
		return ""
	case e.ran > approvals+e.undone:
		return fmt.Sprintf("it ran %d times with %d approvals", e.ran, approvals)
	case e.result("value") == "ran" && e.ran == 0:
		return "Claude was told that it ran, but it did not"
	}
	return ""
}

func toolsAreApproved(e *evidence) string {
	ran, approvals := len(of(e.notes, toolRan)), len(of(e.notes, sentApproval))
	switch {
	case e.flow != flowTool:
		return ""
	case ran > approvals+e.undone:
		return fmt.Sprintf("it ran %d times with %d approvals", ran, approvals)
	case e.result("value") == "ran" && ran == 0:
		return "the result says that it ran, but it did not"
	}
	return ""
}

func changesArePushed(e *evidence) string {
	if !changes(e.flow) {
		return ""
	}
	if e.status() != "received" {
		if e.pushed.commits > 0 {
			return fmt.Sprintf("it is %s, but was pushed: %+v", e.status(), e.pushed)
		}
		return ""
	}
	if e.pushed.commits != 1 || e.pushed.moves < 1 || e.pushed.moves > 1+e.setBack {
		return fmt.Sprintf("its branch has %d commits and was moved %d times, want 1 and 1", e.pushed.commits, e.pushed.moves)
	}
	if e.flow == flowShip && e.pushed.content != e.result("summary") {
		return fmt.Sprintf("pushed is %q, the result is %q", e.pushed.content, e.result("summary"))
	}
	fault := ""
	for _, reply := range of(e.notes, acceptedReply) {
		if strings.HasPrefix(reply, "steer ") { // what was approved before could not be published
			fault = ""
		}
		if shown, approved := strings.CutPrefix(reply, "approve "); approved && !strings.HasPrefix(shown, strings.ReplaceAll(e.pushed.content, " ", "_")+" ") {
			fault = fmt.Sprintf("approved was %s, pushed is %q", shown, e.pushed.content)
		}
	}
	return fault
}

func messagesAreHeard(e *evidence) string {
	for _, message := range of(e.notes, acceptedMessage) {
		if !slices.Contains(of(e.notes, heardMessage), message) {
			return fmt.Sprintf("%q was not", message)
		}
	}
	// If the store has lost that a message was delivered to a turn, another job delivers it
	// again.
	if sent := len(of(e.notes, sentMessage)); len(e.follows) > sent+e.setBack {
		return fmt.Sprintf("%d jobs were begun by %d messages", len(e.follows), sent)
	}
	return ""
}

// checkLeftovers looks for what the jobs have left behind: slots, leases, members of lists.
func (w *world) checkLeftovers() {
	var last object
	harness.Eventually(w.t, "the store to be in order", func() bool {
		last = w.ask(http.MethodGet, "/api/doctor", nil).body
		found, _ := last["found"].(float64)
		if found > 0 {
			w.t.Logf("the doctor finds %v", last["findings"])
		}
		return last["found"] == 0.0
	})
}

// broken reports a violated invariant with the job's history.
func (w *world) broken(j *jobSeen, name, format string, args ...any) {
	w.t.Errorf("%s, job %s (%s of %s): %s: %s\n%s", w.topology.name, j.id, j.flow, j.user, name, fmt.Sprintf(format, args...), w.history(j))
}

// history returns everything known about a job: what its people and processes recorded, its
// events, and the faults, in order of time; then its record.
func (w *world) history(j *jobSeen) string {
	notes := w.journal.read()[j.id]
	for _, e := range w.list("/api/jobs/"+j.id+"/events", "events") {
		text, _ := e["time"].(string)
		at, _ := time.Parse(time.RFC3339Nano, text)
		data, _ := json.Marshal(e["data"])
		notes = append(notes, note{Time: at.Local(), Who: "event", What: fmt.Sprint(e["event"], " ", e["id"]), Value: fmt.Sprintf("%.200s", data)})
	}
	end := time.Now()
	if !j.ended.IsZero() {
		end = j.ended
	}
	notes = append(notes, w.faults.between(j.began, end)...)
	notes = append(notes, w.logged(j.id)...)
	slices.SortStableFunc(notes, func(a, b note) int { return a.Time.Compare(b.Time) })
	var text strings.Builder
	for _, n := range notes {
		fmt.Fprintln(&text, "   ", n)
	}
	fmt.Fprintf(&text, "    record: %s\n    audit:\n%s", w.ask(http.MethodGet, "/api/jobs/"+j.id, nil).text, w.ask(http.MethodGet, "/api/jobs/"+j.id+"/audit", nil).text)
	return text.String()
}
