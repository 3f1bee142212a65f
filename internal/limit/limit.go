// Package limit says how much a program that runs for a job may take, as people write it
// in the front matter of a kind. Package process sees to it.
package limit

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Limits are what a program may take. Zero values leave it to others: a part of a kind to
// the kind, a kind to Defaults.
type Limits struct {
	// Memory is what one process may have of its own: its heap and stacks, not what it
	// shares with others or only reserves (RLIMIT_DATA).
	Memory Bytes `yaml:"memory"`
	// Processes is how many processes and threads the program and all that it starts may
	// be at once. It counts in a sandbox alone: elsewhere the system counts all of the
	// server's user.
	Processes Count `yaml:"processes"`
	// FileSize is how large a file may become by being written.
	FileSize Bytes `yaml:"file_size"`
}

// Defaults are for kinds that say nothing: more than a build takes, less than what a
// machine has. There is none for memory, since sanitizers, databases and the like map
// more than any machine has, and use little of it.
var Defaults = Limits{Processes: 4096, FileSize: 16 * GiB}

// CLI is what a turn gets at least, whatever its kind says: idle, the CLI has 5.5 GiB of
// memory that it does not use, and it writes down what it does.
var CLI = Limits{Memory: 16 * GiB, Processes: 256, FileSize: 256 * MiB}

// smallest are the limits below which programs do not even start.
var smallest = Limits{Memory: 64 * MiB, Processes: 16, FileSize: MiB}

// Or returns the limits with others in place of those that are not set.
func (l Limits) Or(others Limits) Limits {
	return Limits{cmp.Or(l.Memory, others.Memory), cmp.Or(l.Processes, others.Processes), cmp.Or(l.FileSize, others.FileSize)}
}

// AtLeast raises the limits that are set to those of others.
func (l Limits) AtLeast(others Limits) Limits {
	raise := func(limit, least Bytes) Bytes {
		if limit == 0 {
			return 0
		}
		return max(limit, least)
	}
	return Limits{raise(l.Memory, others.Memory), Count(raise(Bytes(l.Processes), Bytes(others.Processes))), raise(l.FileSize, others.FileSize)}
}

// Fault says what is wrong with limits that were written by a person; "" for nothing.
func (l Limits) Fault() string {
	switch {
	case l.Memory != 0 && l.Memory < smallest.Memory:
		return fmt.Sprintf("memory: found %s; expected %s or more", l.Memory, smallest.Memory)
	case l.Processes != 0 && l.Processes < smallest.Processes:
		return fmt.Sprintf("processes: found %d; expected %d or more", l.Processes, smallest.Processes)
	case l.FileSize != 0 && l.FileSize < smallest.FileSize:
		return fmt.Sprintf("file_size: found %s; expected %s or more", l.FileSize, smallest.FileSize)
	}
	return ""
}

// Count is a number of processes.
type Count int

// UnmarshalText reads a whole number above 0.
func (c *Count) UnmarshalText(text []byte) error {
	n, err := strconv.ParseInt(string(text), 10, 32)
	if err != nil || n <= 0 {
		return fmt.Errorf("found %s; expected a whole number such as 512", text)
	}
	*c = Count(n)
	return nil
}

// Bytes is a size.
type Bytes int64

// The units of sizes.
const (
	KiB Bytes = 1 << 10
	MiB Bytes = 1 << 20
	GiB Bytes = 1 << 30
	TiB Bytes = 1 << 40
)

// units are those of sizes as people write them, the largest first.
var units = []struct {
	name string
	size Bytes
}{{"TiB", TiB}, {"GiB", GiB}, {"MiB", MiB}, {"KiB", KiB}}

// UnmarshalText reads a size as it is written: "512MiB".
func (b *Bytes) UnmarshalText(text []byte) error {
	for _, u := range units {
		digits, ok := strings.CutSuffix(string(text), u.name)
		if !ok {
			continue
		}
		n, err := strconv.ParseInt(strings.TrimSpace(digits), 10, 64)
		if err != nil || n <= 0 || n > math.MaxInt64/int64(u.size) {
			break
		}
		*b = Bytes(n) * u.size
		return nil
	}
	return fmt.Errorf("found %s; expected a size such as 512MiB or 4GiB (KiB, MiB, GiB, TiB)", text)
}

// String is the size in the largest unit that leaves no rest.
func (b Bytes) String() string {
	for _, u := range units {
		if b >= u.size && b%u.size == 0 {
			return strconv.FormatInt(int64(b/u.size), 10) + " " + u.name
		}
	}
	return strconv.FormatInt(int64(b), 10) + " bytes"
}
