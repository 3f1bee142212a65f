// Package client speaks Ringback's API: the command line is built on it.
//
// Whatever the server refuses comes back as a *job.Error with the server's own
// words, and so does a server that does not answer at all.
package client
