package fault

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

const (
	// noisy is the user who creates many jobs at once in long runs.
	noisy = "u0"
	// floodFactor is the number of those per job of the clients, and mostFlooded their maximum: with
	// them, the user has fewer events than the store keeps of one user.
	floodFactor = 4
	mostFlooded = 150
)

// crowd describes those who create many jobs at once in long runs. The zero value is the noisy user.
type crowd struct {
	// users is their number.
	users int
	// options are those of their jobs.
	options object
	// key is their API key; the others have one of their own.
	key string
}

// user returns the user of a job of the crowd.
func (w *world) crowdUser(i int) string {
	if n := w.topology.crowd.users; n > 0 {
		return fmt.Sprint("u", w.users+i%n)
	}
	return noisy
}

// floods begins the session of a job of the crowd.
const floods = "flood"

func (j *jobSeen) floods() bool { return strings.HasPrefix(j.session, floods) }

// isFlooded reports whether a run is long enough for a flood.
func (s settings) isFlooded() bool { return s.jobs > fewJobs && s.flow == "" }

// flood creates many jobs of the crowd at once and returns those that the store has
// not lost.
func (w *world) flood() (jobs []*jobSeen) {
	if !w.settings.isFlooded() {
		return nil
	}
	for i := range min(floodFactor*w.settings.jobs, mostFlooded) {
		j := &jobSeen{
			number: followUp, user: w.crowdUser(i), session: fmt.Sprint(floods, i), flow: flowPlain, began: time.Now(),
			options: w.topology.crowd.options, key: w.topology.crowd.key,
		}
		if w.create(j, floodFactor*w.settings.jobs+i) {
			jobs = append(jobs, j)
		}
	}
	return slices.DeleteFunc(jobs, func(j *jobSeen) bool { return !w.awaitEnd(j) })
}

// checkFairness counts how many jobs of the crowd overtook each job of the others. For most of
// them the limit is twice the number of workers; a job that a dead node had taken waits longer.
func (w *world) checkFairness(jobs []*jobSeen) {
	if !w.settings.isFlooded() || w.mayGoBack() {
		return
	}
	notes := w.journal.read()
	starts := map[string]time.Time{}
	for _, j := range jobs {
		if i := slices.IndexFunc(notes[j.id], func(n note) bool { return n.What == turnBegan }); i >= 0 {
			starts[j.id] = notes[j.id][i].Time
		}
	}
	var overtaken []int
	for _, quiet := range jobs {
		start, started := starts[quiet.id]
		if quiet.user == noisy || quiet.number == followUp || !started {
			continue
		}
		count := 0
		for _, j := range jobs {
			if at, ran := starts[j.id]; j.floods() && ran && at.After(quiet.began) && at.Before(start) {
				count++
			}
		}
		overtaken = append(overtaken, count)
	}
	slices.Sort(overtaken)
	w.t.Logf("%s: numbers of the crowd's jobs that overtook a job: %v", w.topology.name, overtaken)
	if most := 2 * workers * w.topology.nodes; len(overtaken) > 0 && overtaken[len(overtaken)/2] > most {
		w.t.Errorf("%s: more than %d jobs of those who flood the queue overtook most jobs of the others", w.topology.name, most)
	}
}
