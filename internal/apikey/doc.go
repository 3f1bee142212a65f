// Package apikey knows the keys of back ends. No key is kept: a key is known by its
// digest, and named by whoever made it.
//
// A file of keys (API_KEYS_FILE) has a line for each:
//
//	# name, digest, and until when it counts
//	shop       sha256:2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae
//	night-job  sha256:fcde2b2edba56bf408601fb721fe9b5c338d10ee429ea04fae5511b68fbf8fb9 expires=2027-01-31
//
// The digest is the SHA-256 of the key. It is neither salted nor slow, for a key is as
// random as New makes it, and nobody guesses that.
package apikey
