package job

import (
	"crypto/sha256"
	"encoding/hex"
)

// Digest returns the hex SHA-256 of content. It identifies a repeated request, result, batch or
// report, and what a person has allowed.
func Digest(content []byte) string {
	sum := sha256.Sum256(content)
	var text [2 * sha256.Size]byte
	hex.Encode(text[:], sum[:])
	return string(text[:])
}

// ActivityDigest identifies a progress report within a job. A report that is sent again adds no
// second event.
func ActivityDigest(content []byte) string { return Digest(content)[:12] }

// ShortVersion returns the version of a kind as it is shown to people.
func ShortVersion(version string) string { return version[:min(len(version), 12)] }
