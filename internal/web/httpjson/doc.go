// Package httpjson implements JSON over HTTP for every endpoint: strict parsing of request
// bodies, and errors that callers can act on.
//
// ReadObject reads a body as package strictjson does.
//
// ErrorHandler writes the response for every error of a handler: for a *job.Error its
// message, with the status of its kind (see Status); for any other error 500 without
// details, which are logged.
package httpjson
