package fault

import (
	"fmt"
	"slices"
	"time"
)

const (
	// noisy is the user who creates many jobs at once in long runs.
	noisy = "u0"
	// floodFactor is the number of those per job of the clients, and mostFlooded their maximum: with
	// them, the user has fewer events than the store keeps of one user.
	floodFactor = 4
	mostFlooded = 400
)

// isFlooded reports whether a run is long enough for a flood.
func (s settings) isFlooded() bool { return s.jobs > fewJobs }

// flood creates many jobs of the noisy user at once and returns those that the store has
// not lost.
func (w *world) flood() (jobs []*jobSeen) {
	if !w.settings.isFlooded() {
		return nil
	}
	for i := range min(floodFactor*w.settings.jobs, mostFlooded) {
		j := &jobSeen{number: followUp, user: noisy, session: fmt.Sprint("flood", i), flow: flowPlain, began: time.Now()}
		if w.create(j, floodFactor*w.settings.jobs+i) {
			jobs = append(jobs, j)
		}
	}
	return slices.DeleteFunc(jobs, func(j *jobSeen) bool { return !w.awaitEnd(j) })
}

// checkFairness counts how many jobs of the noisy user overtook each job of the others. For most of
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
			if at, ran := starts[j.id]; j.user == noisy && ran && at.After(quiet.began) && at.Before(start) {
				count++
			}
		}
		overtaken = append(overtaken, count)
	}
	slices.Sort(overtaken)
	w.t.Logf("%s: numbers of the noisy user's jobs that overtook a job: %v", w.topology.name, overtaken)
	if most := 2 * workers * w.topology.nodes; len(overtaken) > 0 && overtaken[len(overtaken)/2] > most {
		w.t.Errorf("%s: more than %d jobs of a user who floods the queue overtook most jobs of the others", w.topology.name, most)
	}
}
