// Package scan finds secrets where none may be: it is told the secrets of the servers
// that tests start, looks at all that these write, answer, store and start, and says
// what it has found where. homes.go lists the few places that a secret may be in.
//
// There are two sorts. Planted secrets are those that a server was started with; they
// are known before anything can show them, and each text is searched for them as it
// comes. The secret and the signature of a turn are made by the server, so they are
// known only once its store has been read: until then the scan remembers everything
// that looks like one.
//
// A secret is found as it is, escaped for JSON or a URL, in hex and in base64.
package scan
