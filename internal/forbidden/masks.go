// Package forbidden determines what a kind's deny rules hide from its jobs' processes in a
// sandbox.
package forbidden

import (
	"path/filepath"
	"slices"

	"ringback/internal/approval"
	"ringback/internal/claude"
	"ringback/internal/process"
)

// ToTurn returns what a turn that works in dir may not access: files, and programs on its
// PATH. The files mounted over them are prepared in the directory covers.
func ToTurn(rules approval.ToolRules, dir, path, covers string) (process.Masks, error) {
	return masks(rules, dir, covers, func(dir string, f approval.Forbidden) (process.Forbidden, []string) {
		return toTurn{f, dir}, process.ProgramFiles(f.Programs, path)
	})
}

// ToProgram returns what a verifier or an action's command may not read, because it runs
// code that Claude wrote, or with input from Claude. Rules about programs and about writing
// apply only to Claude's own calls. What the kind grants to the command, such as paths
// under readable, stays accessible.
func ToProgram(rules approval.ToolRules, dir, covers string, given ...string) (process.Masks, error) {
	return masks(rules, dir, covers, func(dir string, f approval.Forbidden) (process.Forbidden, []string) {
		given = slices.DeleteFunc(slices.Clone(given), func(place string) bool { return process.Within(place, dir) })
		return toProgram{f, given}, nil
	})
}

// masks returns the masks of the files and programs that judge returns for the rules.
func masks(
	rules approval.ToolRules, dir, covers string,
	judge func(dir string, f approval.Forbidden) (process.Forbidden, []string),
) (found process.Masks, err error) {
	if len(rules.Deny) == 0 {
		return found, nil
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return found, err
	}
	all := rules.Forbidden(dir)
	files, programs := judge(dir, all)
	if all.Files() {
		if found, err = process.FindMasks(dir, all.Bases, files); err != nil {
			return found, err
		}
	}
	found.Unreadable = append(found.Unreadable, programs...)
	found.Covers, err = process.CoversIn(covers)
	return found, err
}

// toTurn forbids to a turn everything denied except the files for its callbacks.
type toTurn struct {
	approval.Forbidden
	dir string
}

func (f toTurn) Unreadable(path string) bool {
	return f.Forbidden.Unreadable(path) && !f.callsBack(path)
}

func (f toTurn) Unwritable(path string) bool {
	return f.Forbidden.Unwritable(path) && !f.callsBack(path)
}

func (f toTurn) callsBack(path string) bool {
	return filepath.Dir(path) == f.dir && slices.Contains(claude.PayloadFiles(), filepath.Base(path))
}

// toProgram forbids to a kind's program everything denied except what the kind grants it.
type toProgram struct {
	approval.Forbidden
	given []string
}

func (f toProgram) Unreadable(path string) bool {
	if f.isGiven(path) || f.holdsGiven(path) {
		return false
	}
	// A directory that contains something granted is not masked as a whole: everything else
	// in it is.
	for at := filepath.Dir(path); f.holdsGiven(at); at = filepath.Dir(at) {
		if f.Forbidden.Unreadable(at) {
			return true
		}
		if at == filepath.Dir(at) {
			break
		}
	}
	return f.Forbidden.Unreadable(path)
}

func (toProgram) Unwritable(string) bool { return false }

func (f toProgram) isGiven(path string) bool {
	return slices.ContainsFunc(f.given, func(place string) bool { return process.Within(place, path) })
}

func (f toProgram) holdsGiven(path string) bool {
	return slices.ContainsFunc(f.given, func(place string) bool { return process.Within(path, place) })
}
