// Package process runs programs so that nothing of them is left behind, and
// finds what a server that died has left.
package process

// MarkerVar is an environment variable that every process we start passes on to
// its children: by it, strays are found whatever process group they moved to.
const MarkerVar = "RINGBACK_TURN"
