package job

import (
	"crypto/sha256"
	"encoding/hex"
)

// Digest identifies bytes: hex SHA-256. By it a repeated request, result, batch or
// report is known, and what a person has allowed.
func Digest(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:])
}

// ActivityDigest identifies a progress report among those of a job, where a
// report that is sent again makes no second event.
func ActivityDigest(content []byte) string { return Digest(content)[:12] }

// ShortVersion is the version of a kind as people read it.
func ShortVersion(version string) string { return version[:min(len(version), 12)] }
