// Package client calls Ringback's API from Go: a back end creates jobs, waits for their results,
// follows their events, and answers what they ask. The command line is built on it.
//
//	c := client.New("https://jobs.example.com", client.WithToken(key))
//	created, err := c.Create(ctx, client.NewJob{Kind: "meal-suggestions", UserID: "u1", Input: input})
//	job, err := c.Wait(ctx, created.Value.RequestID)
//
// An Answer holds the response in two forms: Value has the fields that this package knows, JSON
// has all of them.
//
// A refusal is an *Error: Kind classifies it, Details name the wrong fields, Hint suggests what to do. If
// no server answers, the error is an *Error of the kind Unavailable. Methods send one request and
// repeat none; UntilAvailable repeats those that may arrive twice. Watch and Wait reconnect by
// themselves, and Watch yields each event once.
package client
