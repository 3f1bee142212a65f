// Package cli is the command line for people and scripts: creating, watching
// and ending jobs on a running server. Output for people is coloured and
// aligned on a terminal only; --output json is the API's own JSON.
package cli
