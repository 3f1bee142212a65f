// Package shown tests that what runs is what its approver was shown, by whichever way they
// decided: random questions, inputs, edits and changes in between, against a real server.
package shown
