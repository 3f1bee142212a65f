// Package people tests, from outside, what waits for a person: questions, approvals and messages, and how their replies reach Claude.
package people
