package store

import (
	"crypto/rand"
	"hash/fnv"
	"strings"

	"ringback/internal/job"
)

// Partitions is how many slots users are spread over. It is part of every
// request id and key: changing it orphans what is stored.
const Partitions = 16

// Partition is a share of the users, with all their jobs and events.
type Partition int

// partitionOf is a user's partition. What reads a user's replies lies in the
// same one, so that one script sees both.
func partitionOf(userID string) Partition {
	h := fnv.New32a()
	h.Write([]byte(strings.TrimPrefix(userID, job.ReaderPrefix)))
	return Partition(h.Sum32() % Partitions)
}

// prefix begins every key of the partition; the braces are the hash tag.
func (p Partition) prefix() string { return "rb:{" + p.digits() + "}" }

// digits is the partition as ids and keys name it.
func (p Partition) digits() string { return partitionDigits[2*p : 2*p+2] }

// partitionDigits are the digits of all partitions.
const partitionDigits = "000102030405060708090a0b0c0d0e0f"

// partitionOfDigits is the partition that two digits name, if there is one.
func partitionOfDigits(digits string) (Partition, bool) {
	at := strings.Index(partitionDigits, digits)
	return Partition(at / 2), len(digits) == 2 && at >= 0 && at%2 == 0
}

// partitionAt is the partition of a prefix.
func partitionAt(prefix string) Partition {
	digits, _ := strings.CutPrefix(prefix, "rb:{")
	p, ok := partitionOfDigits(strings.TrimSuffix(digits, "}"))
	if !ok {
		panic("store: no partition has the prefix " + prefix)
	}
	return p
}

func (p Partition) key(parts ...string) string { return p.prefix() + ":" + strings.Join(parts, ":") }

// NewID returns an id that begins with one of job's words, for something of a user's.
func (s *Store) NewID(word, userID string) string {
	return word + "_" + partitionOf(userID).digits() + "_" + strings.ToLower(rand.Text())
}

// partitionOfCheckpoint is partitionOfID for a checkpoint.
func partitionOfCheckpoint(id job.CheckpointID) (Partition, bool) {
	random, ok := strings.CutPrefix(string(id), "chk_")
	p, known := partitionOfID(job.ID("req_" + random))
	return p, ok && known
}

// sessionKey names a session's part of a key; the length keeps two sessions
// apart whatever their names hold.
func sessionKey(userID, sessionID string) string {
	return itoa(len(userID)) + ":" + userID + ":" + sessionID
}

// PartitionOf is the partition of a job.
func PartitionOf(id job.ID) Partition {
	p, _ := partitionOfID(id)
	return p
}

// locate is the partition of a job, or a NotFound error for text that was never a
// request id: what is done about one job begins here, so that no key is ever made
// of such text.
func locate(id job.ID) (Partition, error) {
	p, ok := partitionOfID(id)
	if !ok {
		return 0, job.NoJob(id)
	}
	return p, nil
}

// partitionOfID reads the partition from a request id; ok is false for text
// that was never a request id.
func partitionOfID(id job.ID) (p Partition, ok bool) {
	rest, ok := strings.CutPrefix(string(id), "req_")
	if !ok || len(rest) != len("00_")+26 || rest[2] != '_' || strings.ContainsAny(rest, " \t\r\n") {
		return 0, false
	}
	return partitionOfDigits(rest[:2])
}
