package store

import (
	"crypto/rand"
	"errors"
	"hash/fnv"
	"strings"
	"sync"

	"ringback/internal/job"
)

// Partitions is the number of partitions that users are spread over. It is part of every request ID
// and key: changing it orphans stored data.
const Partitions = 16

// Partition is a share of the users, with all their jobs and events.
type Partition int

// partitionOf returns a user's partition. Jobs that interpret a user's replies are in the same
// partition, so that one script can access both.
func partitionOf(userID string) Partition {
	h := fnv.New32a()
	h.Write([]byte(strings.TrimPrefix(userID, job.ReaderPrefix)))
	return Partition(h.Sum32() % Partitions)
}

// eachPartition calls a function for all partitions at the same time, so that one that is unavailable neither stops
// nor delays the others. It returns the errors of those that failed.
func eachPartition(do func(Partition) error) error {
	var failed [Partitions]error
	var all sync.WaitGroup
	for p := range Partition(Partitions) {
		all.Go(func() { failed[p] = do(p) })
	}
	all.Wait()
	return errors.Join(failed[:]...)
}

// prefix returns the prefix of every key of the partition; the braces are the hash tag.
func (p Partition) prefix() string { return "rb:{" + p.digits() + "}" }

// digits returns the partition as it appears in IDs and keys.
func (p Partition) digits() string { return partitionDigits[2*p : 2*p+2] }

// partitionDigits contains the digits of all partitions.
const partitionDigits = "000102030405060708090a0b0c0d0e0f"

// partitionOfDigits returns the partition with the given two digits, if there is one.
func partitionOfDigits(digits string) (Partition, bool) {
	at := strings.Index(partitionDigits, digits)
	return Partition(at / 2), len(digits) == 2 && at >= 0 && at%2 == 0
}

// partitionAt returns the partition with the given prefix.
func partitionAt(prefix string) Partition {
	k, ok := parseKey(prefix + ":")
	if !ok {
		panic("store: no partition has the prefix " + prefix)
	}
	return k.partition
}

func (p Partition) key(parts ...string) string { return p.prefix() + ":" + strings.Join(parts, ":") }

// storedKey is a parsed key: rb:{0a}:name:rest.
type storedKey struct {
	partition  Partition
	name, rest string
}

func (k storedKey) key() string { return k.partition.key(k.short()) }

// short returns the key without the prefix.
func (k storedKey) short() string { return strings.TrimSuffix(k.name+":"+k.rest, ":") }

func parseKey(text string) (k storedKey, ok bool) {
	digits, rest, _ := strings.Cut(strings.TrimPrefix(text, "rb:{"), "}:")
	k.partition, ok = partitionOfDigits(digits)
	k.name, k.rest, _ = strings.Cut(rest, ":")
	return k, ok
}

// NewID returns an ID that begins with one of job's prefixes, for an object of a user.
func (s *Store) NewID(word, userID string) string {
	return word + "_" + partitionOf(userID).digits() + "_" + strings.ToLower(rand.Text())
}

// partitionOfCheckpoint is partitionOfID for a checkpoint.
func partitionOfCheckpoint(id job.CheckpointID) (Partition, bool) {
	random, ok := strings.CutPrefix(string(id), "chk_")
	p, known := partitionOfID(job.ID("req_" + random))
	return p, ok && known
}

// sessionKey returns the part of a key that identifies a session. The length makes it unambiguous
// for all names.
func sessionKey(userID, sessionID string) string {
	return itoa(len(userID)) + ":" + userID + ":" + sessionID
}

// PartitionOf returns the partition of a job.
func PartitionOf(id job.ID) Partition {
	p, _ := partitionOfID(id)
	return p
}

// locate returns the partition of a job, or a NotFound error for text that was never a request ID.
// Operations on a job call it first, so that no key is ever made from such text.
func locate(id job.ID) (Partition, error) {
	p, ok := partitionOfID(id)
	if !ok {
		return 0, job.NoJob(id)
	}
	return p, nil
}

// partitionOfID returns the partition in a request ID; ok is false for text that was never a
// request ID.
func partitionOfID(id job.ID) (p Partition, ok bool) {
	rest, ok := strings.CutPrefix(string(id), "req_")
	if !ok || len(rest) != len("00_")+26 || rest[2] != '_' || strings.ContainsAny(rest, " \t\r\n") {
		return 0, false
	}
	return partitionOfDigits(rest[:2])
}
