// Package httpjson is JSON over HTTP the way every endpoint speaks it: strict
// reading of request bodies, and errors that their reader can act on.
package httpjson
