// Package docs tests, from outside, documents, help and the first hour: what is written down works when it is followed.
package docs
