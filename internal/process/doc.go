// Package process starts programs, finds them again, and ends them so that nothing
// of them is left behind. There are two sorts:
//
//   - Run is for what the server itself needs to its end: verifiers, finalizers,
//     actions. It ends with its context and with the server.
//   - Start is for what outlives the server: the CLI of a turn. Files are its only
//     ties, so a server that restarts finds it by Adopt and goes on watching it.
//
// What a program forks may leave its process group. So every program carries a
// marker in its environment, which its children inherit: by it a Sweeper ends those
// that outlived a turn, and EndOrphans those whose server has died (Linux only; see
// Marked). One that has even got rid of the marker is found by EndStrays, as a child of
// ours. A pid alone says nothing, since the system gives it away again, and each
// container counts its own: whoever keeps one keeps the StartTime and the place beside
// it.
//
// A Sandbox confines programs and sets their limits: a shell sets its own and then becomes
// the program, so that it never runs without. Starting a program starts nothing else that
// takes longer than bubblewrap and a shell: this server's own binary would.
//
// Protect keeps the server's own memory and environment from what it starts.
//
// Pick says what a program may see of the server's own environment.
package process

// MarkerVar is an environment variable that every program we start passes on to
// its children: by it, strays are found whatever process group they moved to.
const MarkerVar = "RINGBACK_PROCESS"

// earlierMarkerVar is what servers before this name wrote; programs that they left
// are still found by it.
const earlierMarkerVar = "RINGBACK_TURN"
