// Package guard contains the checks that each request must pass before its content is
// looked at: the name under which it reached the server (Hosts), the page that sent it
// (Origins), and the limits on connections and calls (Connections).
package guard
