// Package apikey manages the keys of back ends. The keys themselves are not stored: a key
// is identified by its digest and has a name.
//
// A file of keys (API_KEYS_FILE) has one line for each:
//
//	# name, digest, and expiry date
//	shop       sha256:2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae
//	night-job  sha256:fcde2b2edba56bf408601fb721fe9b5c338d10ee429ea04fae5511b68fbf8fb9 expires=2027-01-31
//
// The digest is the SHA-256 of the key. It needs neither a salt nor a slow hash, because
// keys made by New are too random to guess.
package apikey
