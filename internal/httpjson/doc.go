// Package httpjson is JSON over HTTP the way every endpoint speaks it: strict reading
// of request bodies, and errors that their reader can act on.
//
// ReadObject and Decode read one object and refuse what other readers let pass: keys
// that stand twice, invalid UTF-8, anything behind the object. Numbers keep their
// digits, as json.Number. Into moves an object into a struct and names fields that
// are not known or of another type.
//
// ErrorHandler answers every error of a handler: a *job.Error with the status of its
// kind, which stands in one table (Status), and its words; anything else with 500 and
// no word of what it was, which is logged.
package httpjson
