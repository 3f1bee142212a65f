package claude_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"ringback/internal/rules/approval"
	"ringback/internal/turn/claude"
	"ringback/test/must"
)

// madeFile creates a file and its directories.
func madeFile(t *testing.T, path string) string {
	t.Helper()
	must.OK(t, os.MkdirAll(filepath.Dir(path), 0o700))
	must.OK(t, os.WriteFile(path, []byte("text"), 0o600))
	return path
}

// The kind's programs cannot read what Claude cannot, unless the kind grants it to them.
func TestWhatIsForbiddenToPrograms(t *testing.T) {
	t.Parallel()
	job, data := t.TempDir(), t.TempDir()
	env, nested := madeFile(t, job+"/.env"), madeFile(t, job+"/a/.env")
	madeFile(t, job+"/config/x")
	payload := madeFile(t, job+"/result.json")
	key, given, beside := madeFile(t, data+"/keys/one"), madeFile(t, data+"/keys/given/two"), madeFile(t, data+"/keys/given-not")
	for name, row := range map[string]struct {
		deny  []string
		given []string
		want  []string
	}{
		"nothing":                       {},
		"files of the job":              {[]string{"Read(**/.env)"}, []string{data}, []string{env, nested}},
		"one by which turns call back":  {[]string{"Read(**/result.json)"}, nil, []string{payload}},
		"what may not be written":       {[]string{"Edit(config/**)", "Write(/.env)"}, nil, nil},
		"programs":                      {[]string{"Bash(rm *)", "Bash"}, nil, nil},
		"a directory":                   {[]string{"Read(/" + data + "/keys/**)"}, nil, []string{data + "/keys"}},
		"one that is named":             {[]string{"Read(/" + data + "/keys)"}, nil, []string{data + "/keys"}},
		"a part of it is given":         {[]string{"Read(/" + data + "/keys/**)"}, []string{data + "/keys/given"}, []string{key, beside}},
		"a part of a named one":         {[]string{"Read(/" + data + "/keys)"}, []string{given}, []string{key, beside}},
		"all of it is given":            {[]string{"Read(/" + data + "/keys/**)"}, []string{data + "/keys"}, nil},
		"what holds the job gives none": {[]string{"Read(**/.env)"}, []string{"/", filepath.Dir(job), job}, []string{env, nested}},
	} {
		masks, err := claude.MasksOfProgram(t.Context(), approval.ToolRules{Deny: row.deny}, job, t.TempDir(), row.given...)
		slices.Sort(masks.Unreadable)
		slices.Sort(row.want)
		if err != nil || !slices.Equal(masks.Unreadable, row.want) || len(masks.Unwritable) > 0 {
			t.Errorf("%s: %v, %v, want %v", name, masks, err, row.want)
		}
	}
	masks, err := claude.MasksOfTurn(t.Context(), approval.ToolRules{Deny: []string{"Read(**/result.json)", "Read(**/.env)", "Edit(config/**)"}}, job, "", t.TempDir())
	slices.Sort(masks.Unreadable)
	if err != nil || !slices.Equal(masks.Unreadable, []string{env, nested}) || len(masks.Unwritable) != 1 {
		t.Errorf("a turn: %v, %v", masks, err)
	}
}
