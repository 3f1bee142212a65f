// Package limit defines the resource limits of programs that run for a job, as written in
// the front matter of a kind. Package process enforces them.
package limit

import (
	"cmp"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Limits are the resource limits of a program. Zero values are inherited: a part of a kind
// inherits from the kind, a kind from Defaults.
type Limits struct {
	// Memory limits the private memory of one process: its heap and stacks, not memory that
	// is shared or only reserved (RLIMIT_DATA).
	Memory Bytes `yaml:"memory"`
	// Processes limits the number of processes and threads of the program and its
	// descendants. It is enforced only in a sandbox: elsewhere the system counts all
	// processes of the server's user.
	Processes Count `yaml:"processes"`
	// FileSize limits the size to which a file may grow by writing.
	FileSize Bytes `yaml:"file_size"`
}

// Defaults are the limits of kinds that set none: more than a build needs, less than a
// machine has. Memory has no default, because sanitizers, databases and the like map more
// memory than any machine has, and use little of it.
var Defaults = Limits{Processes: 4096, FileSize: 16 * GiB}

// CLI are the minimum limits of a turn, regardless of its kind: the idle CLI has 5.5 GiB of
// memory that it does not use, and it writes logs.
var CLI = Limits{Memory: 16 * GiB, Processes: 256, FileSize: 256 * MiB}

// smallest are the limits below which programs cannot start.
var smallest = Limits{Memory: 64 * MiB, Processes: 16, FileSize: MiB}

// Or returns the limits, with those of others in place of the ones that are not set.
func (l Limits) Or(others Limits) Limits {
	return Limits{cmp.Or(l.Memory, others.Memory), cmp.Or(l.Processes, others.Processes), cmp.Or(l.FileSize, others.FileSize)}
}

// AtLeast raises the limits that are set to at least those of others.
func (l Limits) AtLeast(others Limits) Limits {
	raise := func(limit, least Bytes) Bytes {
		if limit == 0 {
			return 0
		}
		return max(limit, least)
	}
	return Limits{
		raise(l.Memory, others.Memory), Count(raise(Bytes(l.Processes), Bytes(others.Processes))),
		raise(l.FileSize, others.FileSize),
	}
}

// Fault describes what is wrong with configured limits; "" if nothing is.
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

// UnmarshalText parses a positive integer.
func (c *Count) UnmarshalText(text []byte) error {
	n, err := strconv.ParseInt(string(text), 10, 32)
	if err != nil || n <= 0 {
		return fmt.Errorf("found %s; expected a whole number such as 512", text)
	}
	*c = Count(n)
	return nil
}

// Bytes is a size in bytes.
type Bytes int64

// The units of sizes.
const (
	KiB Bytes = 1 << 10
	MiB Bytes = 1 << 20
	GiB Bytes = 1 << 30
	TiB Bytes = 1 << 40
)

// units are the units as they are written, the largest first.
var units = []struct {
	name string
	size Bytes
}{{"TiB", TiB}, {"GiB", GiB}, {"MiB", MiB}, {"KiB", KiB}}

// UnmarshalText parses a size such as "512MiB".
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

// String returns the size in the largest unit that divides it.
func (b Bytes) String() string {
	for _, u := range units {
		if b >= u.size && b%u.size == 0 {
			return strconv.FormatInt(int64(b/u.size), 10) + " " + u.name
		}
	}
	return strconv.FormatInt(int64(b), 10) + " bytes"
}
