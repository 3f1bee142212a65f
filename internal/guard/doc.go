// Package guard holds what each request must pass before anybody looks at what it
// asks for: the name under which it reached the server (Hosts), and the page that
// sent it (Origins).
package guard
