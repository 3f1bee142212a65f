package fault

import (
	"context"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync"
)

// answerPeople answers everything in the inbox until ctx ends. The decisions depend on the
// seed and on how often the job has asked.
func (w *world) answerPeople(ctx context.Context) {
	desk := &desk{world: w, asked: map[string]int{}, accepted: map[string]string{}}
	for ctx.Err() == nil {
		for _, c := range w.list("/api/checkpoints?status=open&limit=500", "checkpoints") {
			if ctx.Err() == nil {
				desk.answer(c)
			}
		}
		pause(200)
	}
}

// desk plays the people.
type desk struct {
	*world
	// asked counts the questions of each job; accepted contains the replies that were
	// answered with 200, by checkpoint.
	asked    map[string]int
	accepted map[string]string
}

func (d *desk) answer(c object) {
	id, _ := c["id"].(string)
	job, _ := c["requestId"].(string)
	if before := d.accepted[id]; before != "" && !d.mayLose() {
		d.t.Errorf("%s: checkpoint %s is open again after the reply %q was accepted", job, id, before)
		return
	}
	reply, value := d.decide(job, c)
	if reply == nil {
		return
	}
	d.asked[job]++
	if reply["decision"] == "approve" {
		d.journal.write(job, "person", sentApproval, id)
	}
	if d.choice(4, id, "two at once") == 0 {
		d.both(job, id, reply, value)
		return
	}
	if a := d.ask(http.MethodPost, "/api/checkpoints/"+id+"/reply", reply); a.status == http.StatusOK {
		d.accept(job, id, value)
	} else {
		d.journal.write(job, "person", "reply refused", fmt.Sprintf("%s %s: %d %.200s", id, value, a.status, a.text))
	}
}

func (d *desk) accept(job, id, value string) {
	d.accepted[id] = value
	d.journal.write(job, "person", acceptedReply, value+" "+id)
}

// both makes two front ends reply at the same time: at most one may be accepted, unless
// both replies are the same.
func (d *desk) both(job, id string, reply object, value string) {
	var mu sync.Mutex
	var sending sync.WaitGroup
	said := 0
	for range 2 {
		sending.Go(func() {
			a, ok := d.try(http.MethodPost, "/api/checkpoints/"+id+"/reply", reply)
			mu.Lock()
			defer mu.Unlock()
			if ok && a.status == http.StatusOK {
				said++
				d.accept(job, id, value)
			}
		})
	}
	sending.Wait()
	if said > 1 {
		d.t.Errorf("%s: two replies to checkpoint %s were accepted", job, id)
	}
}

// decide returns the reply to a question; value is the reply as one text.
func (d *desk) decide(job string, c object) (reply object, value string) {
	round := d.asked[job]
	switch c["type"] {
	case "information_request":
		values := object{"colour": "blue of " + c["id"].(string)}
		return object{"values": values}, "values " + replyText(values)
	case "form_requirements":
		values := object{"colour": "red of " + c["id"].(string), "size": strconv.Itoa(round)}
		return object{"values": values}, "values " + replyText(values)
	case "confirmation", "tool_approval":
		if d.choice(4, job, round) == 0 {
			return object{"decision": "deny"}, "deny"
		}
		return object{"decision": "approve"}, "approve"
	case "review":
		return d.review(job, round)
	}
	d.t.Errorf("%s asks %v", job, c)
	return nil, ""
}

// review looks at a change before it decides on it.
func (d *desk) review(job string, round int) (reply object, value string) {
	trees, shown := d.lookAt(job)
	if shown == "" {
		return nil, "" // what was shown has been replaced: the job has continued
	}
	reply = object{"trees": trees}
	switch choice := d.choice(6, job, round); {
	case choice < 2 && round < 3:
		reply["decision"], reply["text"] = "steer", fmt.Sprintf("wish %d of %s", round+1, job)
		return reply, "steer"
	case choice == 5:
		reply["decision"], reply["text"] = "deny", "not now"
		return reply, "reject"
	}
	reply["decision"] = "approve"
	return reply, "approve " + strings.ReplaceAll(shown, " ", "_")
}

// lookAt returns a change as it is shown: its trees, and the lines that it adds.
func (d *desk) lookAt(job string) (trees object, shown string) {
	a := d.ask(http.MethodGet, "/api/jobs/"+job+"/diff", nil)
	var diffs []struct {
		Repository, Tree string
		Files            []struct{ Diff string }
	}
	if a.status != http.StatusOK || decode(a.text, &diffs) != nil {
		d.journal.write(job, "person", "diff refused", fmt.Sprint(a.status, " ", string(a.text)))
		return nil, ""
	}
	trees = object{}
	for _, diff := range diffs {
		trees[diff.Repository] = diff.Tree
		for _, file := range diff.Files {
			for line := range strings.Lines(file.Diff) {
				if text, added := strings.CutPrefix(line, "+"); added && !strings.HasPrefix(text, "++") {
					shown = strings.TrimSpace(text)
				}
			}
		}
	}
	return trees, shown
}
