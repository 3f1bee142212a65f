// Package forbidden finds what a kind's deny rules take away from what runs for its jobs in a
// sandbox.
package forbidden

import (
	"path/filepath"
	"slices"
	"strings"

	"ringback/internal/approval"
	"ringback/internal/claude"
	"ringback/internal/process"
)

// ToTurn returns what a turn that works in a directory may not reach: files, and programs on
// its PATH. The covers are prepared in a directory of the server's.
func ToTurn(rules approval.ToolRules, dir, path, covers string) (process.Masks, error) {
	return masks(rules, dir, covers, func(dir string, f approval.Forbidden) (process.Forbidden, []string) {
		return toTurn{f, dir}, process.ProgramFiles(f.Programs, path)
	})
}

// ToProgram returns what a verifier or the command of an action may not read: it runs what
// Claude wrote, or what Claude says. Rules about programs and about writing are for Claude's
// own calls. What the kind gives to the command stays, such as what readable names.
func ToProgram(rules approval.ToolRules, dir, covers string, given ...string) (process.Masks, error) {
	return masks(rules, dir, covers, func(dir string, f approval.Forbidden) (process.Forbidden, []string) {
		given = slices.DeleteFunc(slices.Clone(given), func(place string) bool { return within(place, dir) })
		return toProgram{f, given}, nil
	})
}

// masks finds what the rules forbid to what judge returns, and the programs.
func masks(rules approval.ToolRules, dir, covers string, judge func(dir string, f approval.Forbidden) (process.Forbidden, []string)) (found process.Masks, err error) {
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

// toTurn is what is forbidden to a turn: not the files by which it calls back.
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

// toProgram is what is forbidden to a program of the kind's: not what the kind gives to it.
type toProgram struct {
	approval.Forbidden
	given []string
}

func (f toProgram) Unreadable(path string) bool {
	if f.isGiven(path) || f.holdsGiven(path) {
		return false
	}
	// A directory that holds something given is not covered as a whole: all else in it is.
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
	return slices.ContainsFunc(f.given, func(place string) bool { return within(place, path) })
}

func (f toProgram) holdsGiven(path string) bool {
	return slices.ContainsFunc(f.given, func(place string) bool { return within(path, place) })
}

// within reports whether a place is a directory or lies in it.
func within(dir, place string) bool {
	return place == dir || strings.HasPrefix(place, strings.TrimSuffix(dir, "/")+"/")
}
