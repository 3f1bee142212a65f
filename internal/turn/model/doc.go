// Package model is between turns and the model's API. It forwards their requests with the server's credential, so
// that turns do not need it (API), counts what the requests use, books it, and admits a request only while no budget
// is used up (Meter).
//
// The usage of a turn is appended to a file before the turn gets the response, so that it is not lost with the
// server. From there it is booked in the store, which may be unavailable for a while. Each booking contains the usage
// of the whole turn, so it can be repeated safely. It also contains what the requests in flight may have cost. If the
// server is lost, they count as that: the turn's next server reads the file, and the job's next turn the store.
package model
