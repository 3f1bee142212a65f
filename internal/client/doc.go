// Package client speaks Ringback's API: the command line is built on it.
//
//	c := client.New("http://127.0.0.1:3001", os.Getenv("RINGBACK_TOKEN"))
//	created, err := c.Create(ctx, client.NewJob{Kind: "meal-suggestions", Input: input})
//	for event, err := range c.Watch(ctx, client.Watch{UserID: "u1"}) { … }
//
// An Answer holds what this program knows of what the server said (Value), and all of
// it (JSON), for programs that know more. Whatever the server refuses comes back as a
// *job.Error with the server's own words, and so does a server that does not answer at
// all. Watch connects again by itself and yields each event once.
//
// To add a call: a method in the file of what it is about, by call for a JSON answer
// and fetch for any other.
package client
