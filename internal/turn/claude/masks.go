package claude

import (
	"context"
	"path/filepath"
	"slices"

	"ringback/internal/rules/approval"
	"ringback/internal/sandbox/process"
)

// MasksOfTurn returns what a turn that works in dir may not access: files, except those for its
// callbacks, and programs on its PATH. The files mounted over them are prepared in the directory covers.
func MasksOfTurn(ctx context.Context, rules approval.ToolRules, dir, path, covers string) (process.Masks, error) {
	return masks(ctx, rules, dir, covers, func(dir string, f approval.Forbidden) (process.Forbidden, []string) {
		callsBack := func(path string) bool {
			return filepath.Dir(path) == dir && slices.Contains(PayloadFiles(), filepath.Base(path))
		}
		return process.Forbidden{
			Unreadable: func(path string) bool { return f.Unreadable(path) && !callsBack(path) },
			Unwritable: func(path string) bool { return f.Unwritable(path) && !callsBack(path) },
		}, process.ProgramFiles(f.Programs, path)
	})
}

// MasksOfProgram returns what a verifier or an action's command may not read, because it runs
// code that Claude wrote, or with input from Claude. Rules about programs and about writing
// apply only to Claude's own calls. What the kind grants to the command, such as paths
// under readable, stays accessible.
func MasksOfProgram(
	ctx context.Context, rules approval.ToolRules, dir, covers string, given ...string,
) (process.Masks, error) {
	return masks(ctx, rules, dir, covers, func(dir string, f approval.Forbidden) (process.Forbidden, []string) {
		given = slices.DeleteFunc(slices.Clone(given), func(place string) bool { return process.Within(place, dir) })
		return process.Forbidden{Unreadable: func(path string) bool { return isUnreadable(path, f, given) }}, nil
	})
}

// masks returns the masks of the files and programs that judge returns for the rules.
func masks(
	ctx context.Context, rules approval.ToolRules, dir, covers string,
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
		if found, err = process.FindMasks(ctx, dir, all.Bases, files); err != nil {
			return found, err
		}
	}
	found.Unreadable = append(found.Unreadable, programs...)
	found.Covers, err = process.CoversIn(covers)
	return found, err
}

// isUnreadable reports whether a path is denied to a program that is granted other paths.
func isUnreadable(path string, f approval.Forbidden, given []string) bool {
	holdsGiven := func(path string) bool {
		return slices.ContainsFunc(given, func(place string) bool { return process.Within(path, place) })
	}
	isGiven := slices.ContainsFunc(given, func(place string) bool { return process.Within(place, path) })
	if isGiven || holdsGiven(path) {
		return false
	}
	// A directory that contains something granted is not masked as a whole: everything else
	// in it is.
	for at := filepath.Dir(path); holdsGiven(at); at = filepath.Dir(at) {
		if f.Unreadable(at) {
			return true
		}
		if at == filepath.Dir(at) {
			break
		}
	}
	return f.Unreadable(path)
}
