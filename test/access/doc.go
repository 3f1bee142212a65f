// Package access tests, from outside, what a caller may do, what a refused one is told, and who sees which events and secrets.
package access
