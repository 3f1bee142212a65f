// Package fault runs jobs with simulated people while nodes, CLIs, Redis and the
// connections between them are killed, paused, cut and delayed at random, and checks from
// outside that nothing was lost, duplicated or left behind. It is described in
// docs/reliability.md.
//
// The parts of one run, see TestFaults:
//
//   - a topology (topology_*_test.go) is the store of the jobs, and its faults;
//   - the world (world_test.go) consists of the nodes on it, one entry in front of them,
//     their faults (faults_test.go, shortage_test.go), and the receiver of their
//     notifications (receiver_test.go);
//   - clients (client_test.go) create jobs, each of one flow; Claude is played by this
//     binary (claude_test.go, turn_test.go), people by people_test.go, and each user's
//     browser by listener_test.go;
//   - all of them record what they received and what they did in one journal
//     (journal_test.go);
//   - invariants (invariants_test.go) compare the records, the events and the effects
//     outside with the journal. A violation is reported with the job's history.
package fault
