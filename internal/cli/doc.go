// Package cli is the command line for people and scripts: it creates, watches and ends jobs on a
// running server. Output for people is coloured and aligned on a terminal only. --output json is
// the API's own JSON, with escapes for characters that control a terminal.
//
// Exit codes: 0 for success, 1 if something failed or a job ended without a result, 2 for a mistake
// in the command line, 124 if --timeout and 130 if Ctrl-C ended run while its job continues.
package cli
