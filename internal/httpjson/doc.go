// Package httpjson implements JSON over HTTP for every endpoint: strict parsing of request
// bodies, and errors that callers can act on.
//
// ReadObject and Decode parse one object and reject what other parsers accept: duplicate
// keys, invalid UTF-8, anything after the object. Numbers keep their digits, as
// json.Number. Into decodes an object into a struct, and its errors name fields that are
// unknown or of the wrong type.
//
// ErrorHandler writes the response for every error of a handler: for a *job.Error its
// message, with the status of its kind (see Status); for any other error 500 without
// details, which are logged.
package httpjson
