package fault

import (
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// The flows: what a job goes through.
const (
	flowPlain    = "plain"    // reports and a result
	flowQuestion = "question" // asks for one value
	flowForm     = "form"     // asks for several
	flowAction   = "action"   // has the server do what a person must allow
	flowTool     = "tool"     // asks for a tool call of its own
	flowChange   = "change"   // changes a repository; a person reviews it
	flowFollow   = "follow"   // is written to when it has ended
	flowCancel   = "cancel"   // is cancelled at some moment
)

// flows are drawn from this list, so that plain jobs are two fifths of all.
var flows = [...]string{
	flowPlain, flowPlain, flowPlain, flowPlain, flowPlain, flowPlain, flowPlain, flowPlain,
	flowQuestion, flowQuestion, flowForm, flowAction, flowAction, flowAction, flowTool, flowTool, flowChange, flowFollow, flowCancel, flowCancel,
}

// kindOf is the kind of a flow's jobs.
var kindOf = map[string]string{
	flowPlain: "plain", flowFollow: "plain", flowCancel: "plain", flowQuestion: "asking", flowForm: "asking",
	flowAction: "acting", flowTool: "careful", flowChange: "changing",
}

// jobSeen is a job as its client knows it.
type jobSeen struct {
	// number is the client's; followUp for a job that a message has begun.
	number                  int
	id, user, session, flow string
	began, ended            time.Time
	// follows are the jobs that the client's message has begun; they are among the jobs
	// of a run themselves.
	follows []string
}

// followUp numbers no client.
const followUp = -1

// clientsAtOnce is how many clients there are: so many that the workers always have some.
const clientsAtOnce = 20

// runClients has clients ask for so many jobs, each of them for one after the other, and
// returns all jobs once they have ended.
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

// runClient asks for one job and sees it to its end. Where the store has lost it, it asks
// again.
func (w *world) runClient(i int) []*jobSeen {
	for {
		j := &jobSeen{number: i, user: fmt.Sprint("u", i%w.users), session: fmt.Sprint("s", i), flow: flows[w.choice(len(flows), "flow", i)], began: time.Now()}
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

// again sees to jobs whose end the store may have lost after their clients had heard of it:
// those that are gone are asked for again, as by a client that was sent resync.
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
	if j.flow == flowChange {
		input["wish"] = fmt.Sprint("wish 0 of job ", i)
		input["repos"] = []any{object{"url": w.repos.of(i)}}
	}
	a := w.ask(http.MethodPost, "/api/jobs", object{
		"kind": kindOf[j.flow], "input": input, "userId": j.user, "sessionId": j.session, "idempotencyKey": fmt.Sprint("job ", i),
	})
	if a.status != http.StatusAccepted {
		w.t.Errorf("job %d was answered %d %s", i, a.status, a.text)
		return false
	}
	j.id, _ = a.body["requestId"].(string)
	w.journal.write(j.id, "client", "asked for", j.flow)
	return true
}

// cancel cancels a job at some moment of its life.
func (w *world) cancel(j *jobSeen, i int) {
	time.Sleep(time.Duration(w.choice(1500, "cancel", i)) * time.Millisecond)
	a := w.ask(http.MethodPost, "/api/jobs/"+j.id+"/cancel", nil)
	if a.status == http.StatusOK {
		status, _ := a.body["status"].(string)
		w.journal.write(j.id, "client", acceptedCancel, status)
	}
}

// awaitEnd waits until a job has ended: a listener hears of it, or it is looked up. It
// reports false where the store has lost the job. A job hangs that does not move for a
// while, and one that moves and does not end, as nothing lets it.
func (w *world) awaitEnd(j *jobSeen) bool {
	ended, moved, began, turn := w.ears.ended(j.user, j.id), time.Now(), time.Now(), any(nil)
	for time.Since(moved) < patience && time.Since(began) < 4*patience {
		select {
		case <-ended:
			ended = nil // the record says it, too
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
		if now := a.body["turn"]; a.status == http.StatusOK && now != turn {
			moved, turn = time.Now(), now
		}
	}
	w.broken(j, "every job ends", "it has not within %s of its latest turn", time.Since(moved).Round(time.Second))
	return true
}

// follow writes to a job that has ended, and sees the jobs to their end that this begins.
// Where the store has lost them, it writes again; it returns false where it has lost the
// job itself, whose chat then is nobody's.
func (w *world) follow(j *jobSeen) (begun []*jobSeen, ok bool) {
	for {
		if !w.awaitEnd(j) {
			return nil, false
		}
		w.say(j, "follow "+j.id)
		begun = w.awaitFollowUps(j)
		if len(begun) == 0 && w.mayGoBack() && len(of(w.journal.read()[j.id], heardMessage)) > 0 {
			return nil, true // its end was lost before a replica had it, and its next turn was told
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

// say writes to a job until that is taken.
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

// awaitFollowUps waits until there are other jobs in a job's chat.
func (w *world) awaitFollowUps(j *jobSeen) []*jobSeen {
	for deadline := time.Now().Add(patience / 3); time.Now().Before(deadline); pause(200) {
		if begun := w.followUps(j); len(begun) > 0 {
			return begun
		}
	}
	return nil
}

// followUps are the other jobs in a job's chat that its client does not know of.
func (w *world) followUps(j *jobSeen) (begun []*jobSeen) {
	for _, record := range w.list("/api/jobs?limit=500&fields=requestId,sessionId&userId="+j.user, "jobs") {
		if id, _ := record["requestId"].(string); record["sessionId"] == j.session && id != j.id && !slices.Contains(j.follows, id) {
			begun = append(begun, &jobSeen{number: followUp, id: id, user: j.user, session: j.session, flow: flowPlain, began: time.Now()})
		}
	}
	return begun
}

// withLater adds the jobs that began after their clients had looked: a message that was
// sent again, as its answer was lost, may be read when the job that the first has begun is
// at its end.
func (w *world) withLater(jobs []*jobSeen) []*jobSeen {
	for _, j := range slices.Clone(jobs) {
		if j.flow != flowFollow {
			continue
		}
		for begun := w.followUps(j); len(begun) > 0; begun = w.followUps(j) {
			for _, next := range begun {
				if w.awaitEnd(next) { // else it is gone, and listed no more
					j.follows, jobs = append(j.follows, next.id), append(jobs, next)
				}
			}
		}
	}
	return jobs
}
