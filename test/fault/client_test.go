package fault

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// The flows of jobs.
const (
	flowPlain    = "plain"    // progress and a result
	flowQuestion = "question" // asks for one value
	flowForm     = "form"     // asks for several
	flowAction   = "action"   // has the server run an action that a person must approve
	flowTool     = "tool"     // asks for the approval of a tool call
	flowChange   = "change"   // changes a repository; a person reviews it
	flowShip     = "ship"     // changes a repository; nobody reviews it
	flowFollow   = "follow"   // gets a message after it has ended
	flowCancel   = "cancel"   // is cancelled at a random moment
)

// flows are drawn from this list, so that two fifths of all jobs are plain.
var flows = [...]string{
	flowPlain, flowPlain, flowPlain, flowPlain, flowPlain, flowPlain, flowPlain, flowPlain,
	flowQuestion, flowQuestion, flowForm, flowAction, flowAction, flowAction, flowTool, flowTool, flowChange, flowShip, flowFollow, flowCancel,
}

// changes reports whether the jobs of a flow change a repository.
func changes(flow string) bool { return flow == flowChange || flow == flowShip }

// kindOf is the kind of the jobs of a flow.
var kindOf = map[string]string{
	flowPlain: "plain", flowFollow: "plain", flowCancel: "plain", flowQuestion: "asking", flowForm: "asking",
	flowAction: "acting", flowTool: "careful", flowChange: "changing", flowShip: "shipping",
}

// jobSeen is a job as known by its client.
type jobSeen struct {
	// number is the number of the client; followUp for a job started by a message.
	number                  int
	id, user, session, flow string
	// options are those of the request, and key is the API key of a crowd.
	options      object
	key          string
	began, ended time.Time
	// follows are the jobs started by the client's message; they are also in the list of a
	// run's jobs.
	follows []string
	// isCutOff is true if its first events are gone.
	isCutOff bool
}

// followUp is the number of jobs without a client of their own.
const followUp = -1

// clientsAtOnce is the number of concurrent clients: enough to keep the workers busy.
const clientsAtOnce = 20

// runClients creates the given number of jobs with concurrent clients, and returns all jobs
// once they have ended.
func (w *world) runClients(count int) []*jobSeen {
	var next atomic.Int64
	var mu sync.Mutex
	var all []*jobSeen
	var clients sync.WaitGroup
	for range min(clientsAtOnce, count) {
		clients.Go(func() {
			for i := int(next.Add(1)) - 1; i < count && !w.t.Failed(); i = int(next.Add(1)) - 1 {
				done := w.runClient(i)
				mu.Lock()
				all = append(all, done...)
				mu.Unlock()
			}
		})
	}
	clients.Wait()
	return all
}

// runClient creates one job and follows it to its end. If the store has lost it, the client
// creates it again.
func (w *world) runClient(i int) []*jobSeen {
	for {
		j := &jobSeen{number: i, user: fmt.Sprint("u", i%w.users), session: fmt.Sprint("s", i), flow: w.flow(i), began: time.Now()}
		if !w.create(j, i) {
			return nil
		}
		if j.flow == flowCancel {
			w.cancel(j, i)
		}
		if !w.awaitEnd(j) {
			continue
		}
		if j.flow != flowFollow {
			return []*jobSeen{j}
		}
		if begun, ok := w.follow(j); ok {
			return append(begun, j)
		}
	}
}

// flow returns the flow of a client's job.
func (w *world) flow(i int) string {
	flow := cmp.Or(w.settings.flow, flows[w.choice(len(flows), "flow", i)])
	if flow == flowShip && w.topology.forgets {
		return flowChange
	}
	return flow
}

// again handles jobs whose end the store may have lost after their clients had heard of it:
// lost jobs are created again, as by a client that got a resync.
func (w *world) again(jobs []*jobSeen) []*jobSeen {
	if !w.mayGoBack() {
		return jobs
	}
	var all []*jobSeen
	for _, j := range jobs {
		ended := j.ended
		switch {
		case w.awaitEnd(j):
			all = append(all, j)
		case !w.losses.cover(ended):
			w.broken(j, "a job that has ended stays", "it ended at %s, when nothing could be lost, and is gone", ended.Format(time.TimeOnly))
		case j.number != followUp:
			all = append(all, w.runClient(j.number)...)
		}
	}
	return all
}

func (w *world) create(j *jobSeen, i int) bool {
	input := object{"flow": j.flow}
	if changes(j.flow) {
		input["wish"] = fmt.Sprint("wish 0 of job ", i)
		input["repos"] = []any{object{"url": w.repos.of(i)}}
	}
	a := w.askAs(cmp.Or(j.key, w.key), http.MethodPost, "/api/jobs", object{
		"kind": kindOf[j.flow], "input": input, "userId": j.user, "sessionId": j.session, "idempotencyKey": fmt.Sprint("job ", i),
		"options": j.options,
	})
	if a.status != http.StatusAccepted {
		w.t.Errorf("job %d was answered %d %s", i, a.status, a.text)
		return false
	}
	j.id, _ = a.body["requestId"].(string)
	w.journal.write(j.id, "client", "asked for", j.flow)
	return true
}

// cancel cancels a job at a random moment.
func (w *world) cancel(j *jobSeen, i int) {
	time.Sleep(time.Duration(w.choice(1500, "cancel", i)) * time.Millisecond)
	a := w.ask(http.MethodPost, "/api/jobs/"+j.id+"/cancel", nil)
	if a.status == http.StatusOK {
		status, _ := a.body["status"].(string)
		w.journal.write(j.id, "client", acceptedCancel, status)
	}
}

// awaitEnd waits until a job has ended, by its events or its record. It returns false if
// the store has lost the job. It reports a hang if a job does not change for a while, or
// changes but does not end when nothing prevents it. A job that moves up in the queue changes.
func (w *world) awaitEnd(j *jobSeen) bool {
	ended, moved, began, seen := w.ears.ended(j.user, j.id), time.Now(), time.Now(), ""
	for time.Since(moved) < patience && time.Since(began) < 4*patience {
		select {
		case <-ended:
			ended = nil // the record shows it as well
		case <-time.After(time.Second):
		}
		a := w.ask(http.MethodGet, "/api/jobs/"+j.id, nil)
		if a.status == http.StatusNotFound && w.mayLose() {
			w.gone.Store(j.id, true)
			return false
		}
		if a.body["finishedAt"] != nil {
			j.ended = time.Now()
			w.ended.Add(1)
			return true
		}
		if now := fmt.Sprint(a.body["turn"], a.body["queue"]); a.status == http.StatusOK && now != seen {
			moved, seen = time.Now(), now
		}
	}
	w.broken(j, "every job ends", "it has not within %s of its latest turn or step in the queue", time.Since(moved).Round(time.Second))
	return true
}

// follow sends a message to a job that has ended, and follows the jobs that it starts to
// their end. If the store has lost them, it sends again; it returns false if the store has
// lost the job itself, and with it the owner of its chat.
func (w *world) follow(j *jobSeen) (begun []*jobSeen, ok bool) {
	for {
		if !w.awaitEnd(j) {
			return nil, false
		}
		w.say(j, "follow "+j.id)
		begun = w.awaitFollowUps(j)
		if len(begun) == 0 && w.mayGoBack() && len(of(w.journal.read()[j.id], heardMessage)) > 0 {
			return nil, true // its end was lost before a replica had it, and its next turn got the message
		}
		if len(begun) == 0 && w.mayLose() {
			continue
		}
		if len(begun) == 0 {
			w.broken(j, "a message to a job that has ended begins another", "none was within %s", patience/3)
		}
		for _, next := range begun {
			if w.awaitEnd(next) {
				j.follows = append(j.follows, next.id)
			}
		}
		begun = slices.DeleteFunc(begun, func(next *jobSeen) bool { return next.ended.IsZero() })
		if len(begun) > 0 || !w.mayLose() {
			return begun, true
		}
	}
}

// say sends a message to a job until it is accepted.
func (w *world) say(j *jobSeen, message string) {
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); pause(100) {
		w.journal.write(j.id, "client", sentMessage, message)
		a, ok := w.try(http.MethodPost, "/to-llm", object{"sessionId": j.session, "userId": j.user, "content": message})
		if ok && a.status == http.StatusOK {
			w.journal.write(j.id, "client", acceptedMessage, message)
			return
		}
	}
}

// awaitFollowUps waits until a job's chat has other jobs.
func (w *world) awaitFollowUps(j *jobSeen) []*jobSeen {
	for deadline := time.Now().Add(patience / 3); time.Now().Before(deadline); pause(200) {
		if begun := w.followUps(j); len(begun) > 0 {
			return begun
		}
	}
	return nil
}

// followUps returns the other jobs in a job's chat that its client does not know of.
func (w *world) followUps(j *jobSeen) (begun []*jobSeen) {
	for _, record := range w.list("/api/jobs?limit=500&fields=requestId,sessionId&userId="+j.user, "jobs") {
		if id, _ := record["requestId"].(string); record["sessionId"] == j.session && id != j.id && !slices.Contains(j.follows, id) {
			begun = append(begun, &jobSeen{number: followUp, id: id, user: j.user, session: j.session, flow: flowPlain, began: time.Now()})
		}
	}
	return begun
}

// withLater adds the jobs that began after their clients had checked: a message that was
// sent again because its response was lost may be read when the job started by the first
// one ends.
func (w *world) withLater(jobs []*jobSeen) []*jobSeen {
	for _, j := range slices.Clone(jobs) {
		if j.flow != flowFollow {
			continue
		}
		for begun := w.followUps(j); len(begun) > 0; begun = w.followUps(j) {
			for _, next := range begun {
				if w.awaitEnd(next) { // otherwise it is gone, and no longer listed
					j.follows, jobs = append(j.follows, next.id), append(jobs, next)
				}
			}
		}
	}
	return jobs
}
