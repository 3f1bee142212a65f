// Package api serves back ends and people: jobs, checkpoints, chats, files, approvals, and
// WebSocket connections (package hub does the rest of those). docs/api.md lists the
// endpoints. The endpoints that Claude calls are in package callback.
//
// A handler does three things: it determines the caller and what they may see, parses the
// request strictly, and calls one service (package lifecycle for a job as a whole,
// checkpoint for what people answer, store to read). It contains no rules about jobs.
//
//   - The caller: a back end, identified by an API key, acts for any user; a person,
//     identified by a token, only for themselves. In open mode every caller is a back end,
//     and the server listens on loopback only. actAs decides for whom a caller acts.
//   - What they may see: find and findCheckpoint answer 404 for what belongs to another
//     user, as for what does not exist.
//   - Errors are *job.Error; package httpjson writes them. Paths in their details are
//     those of the request that was sent, see fieldNames.
//
// To add an endpoint, write a handler and add an entry to the tables of route.go, which
// describes the request and the responses. The router, the contracts (package contract) and
// the tables of docs/api.md are generated from these: run make generate.
package api
