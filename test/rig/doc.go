// Package rig has what the end-to-end tests share: servers with defaults for tests, requests of
// clients and people, and the parts that tests play, such as Claude's, a repository's or a webhook's.
package rig
