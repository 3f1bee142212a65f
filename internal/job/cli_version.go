package job

import (
	"fmt"
	"strings"
)

// CLIVersion is a version of the Claude CLI that ran turns of a job.
type CLIVersion struct {
	// FromTurn is the first turn that it ran. It also ran the later ones, up to the next entry's.
	FromTurn int `json:"fromTurn"`
	// Version is the output of the CLI's --version, never of a turn: such as 2.1.329, or simulated
	// for the stand-in, or unknown if the program gave no answer.
	Version string `json:"version"`
}

// The versions for a stand-in, and for a CLI that reports none.
const (
	CLISimulated = "simulated"
	CLIUnknown   = "unknown"
)

// CLIText lists the versions of the CLI that ran the job's turns: "2.1.329", or "2.1.329 (from turn
// 1), 2.1.330 (from turn 4)"; "" before the first turn.
func (j Job) CLIText() string {
	if len(j.CLIVersions) == 1 && j.CLIVersions[0].FromTurn == 1 {
		return j.CLIVersions[0].Version
	}
	texts := make([]string, len(j.CLIVersions))
	for i, v := range j.CLIVersions {
		texts[i] = fmt.Sprintf("%s (from turn %d)", v.Version, v.FromTurn)
	}
	return strings.Join(texts, ", ")
}
