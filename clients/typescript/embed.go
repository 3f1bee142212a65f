// Package typescript is the TypeScript client as one module, which servers hand to pages
// that are built without a bundler.
package typescript

import _ "embed" // for Module

// Module is the client as an ES module. It imports nothing.
//
//go:embed ringback-client.js
var Module []byte
