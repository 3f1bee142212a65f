// Package jobs tests, from outside, jobs from their request to their result, run by the real Claude CLI, by stand-ins and by hand.
package jobs
