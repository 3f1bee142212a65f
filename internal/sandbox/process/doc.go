// Package process starts programs, finds them again, and ends them without leaving
// anything behind. There are two kinds:
//
//   - Run is for programs that the server waits for: verifiers, finalizers, actions.
//     They end with their context and with the server.
//   - Start is for programs that outlive the server: the CLI of a turn. Only files
//     connect the two, so a restarted server finds the program with Adopt and continues
//     to watch it.
//
// Children of a program may leave its process group. So every program has a marker in its
// environment, which its children inherit. With it, a Sweeper ends those that outlive a
// turn, and EndOrphans ends those of a dead server (Linux only; see Marked). EndStrays
// finds a process that has even removed the marker, because it becomes our child. A pid
// alone identifies nothing, because the system reuses pids and each container counts its
// own. So a stored pid comes with its StartTime and the pid namespace.
//
// A Sandbox confines programs and sets their limits: a shell sets its own limits and then
// becomes the program, so the program never runs without them. Starting a program starts
// nothing slower than bubblewrap and a shell; this server's own binary would be slower.
//
// Protect protects the server's own memory and environment from the programs that it
// starts.
//
// Pick selects the part of the server's environment that a program may see.
package process

// MarkerVar is an environment variable that every program we start passes on to its
// children. It identifies strays in any process group.
const MarkerVar = "RINGBACK_PROCESS"
