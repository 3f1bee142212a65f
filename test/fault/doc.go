// Package fault runs jobs with people in them while nodes, CLIs, Redis and the ways
// between them are killed, paused, cut and delayed at random, and checks from outside
// that nothing was lost, doubled or left behind. docs/reliability.md tells of it.
//
// The story of one run, see TestFaults:
//
//   - a topology (topology_*_test.go) is what jobs are stored in, and what can happen to it;
//   - the world (world_test.go) is the nodes on it, one entry in front of them, and their
//     faults (faults_test.go, shortage_test.go), and what they tell of jobs (receiver_test.go);
//   - clients (client_test.go) ask for jobs, each of one flow; Claude is played by this
//     very binary (claude_test.go, turn_test.go), people by people_test.go, and a browser
//     of each user by listener_test.go;
//   - all of them write down what they were told and what they did in one journal
//     (journal_test.go);
//   - invariants (invariants_test.go) hold the records, the events and what happened
//     outside to the journal. One that is broken is told with the job's history.
package fault
