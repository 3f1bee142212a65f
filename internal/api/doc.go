// Package api serves back ends and people: jobs, checkpoints, chats, files, approvals,
// and the WebSocket's door (package hub has what lies behind it). docs/api.md lists the
// endpoints. What Claude calls is in package callback.
//
// A handler does three things: it finds out who calls and what they may see, reads the
// request strictly, and calls one service (package lifecycle for a job as a whole,
// checkpoint for what a person says, store to read). It holds no rule of a job.
//
//   - Who calls: a back end, by an API key, acts for any user; a person, by a token,
//     only for themselves. In the open mode everyone is a back end, and the server
//     listens on loopback only. actAs decides for whom a caller acts.
//   - What they may see: find and findCheckpoint answer 404 for what belongs to somebody
//     else, as for what does not exist.
//   - Errors are *job.Error; package httpjson writes them. Paths in their details are
//     those of the request that was sent, see fieldNames.
//
// To add an endpoint: a handler, and its entry in the tables of route.go, which says what
// it takes and answers. The router, the contracts (package contract) and the tables of
// docs/api.md are made of these: run make generate.
package api
