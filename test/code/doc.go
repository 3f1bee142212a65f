// Package code tests, from outside, changes of repositories: from the first diff through steering, review and verification to the push.
package code
