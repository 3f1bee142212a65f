package kind

import (
	"fmt"
	"slices"

	"ringback/internal/job"
	"ringback/internal/rules/schema"
)

type definition struct {
	Name string `json:"name"`
	// InDir is true if the prompt is in a directory, to which paths of programs are
	// relative. The directory depends on the node.
	InDir  bool   `json:"inDir,omitempty"`
	Prompt string `json:"prompt"`
	// Input and Result are empty if there is no such file.
	Input  string `json:"input,omitempty"`
	Result string `json:"result,omitempty"`
}

func (l *loader) define(name string, prompt file) []byte {
	return job.MustJSON(definition{
		Name: name, InDir: prompt.dir != "", Prompt: string(prompt.text),
		Input: string(l.schemas[name+inputSuffix].text), Result: string(l.schemas[name+resultSuffix].text),
	})
}

// Restore parses a version of a kind from its definition. Paths of its programs are relative
// to dir, unless the kind is built in. It fails only if the kind cannot be read: jobs have begun with
// it, and what this version would ask its author to correct was allowed then.
func Restore(version string, text []byte, dir string) (*Kind, error) {
	var d definition
	if found := job.Digest(text); found != version {
		return nil, fmt.Errorf("the definition has the digest %s, expected %s", job.ShortVersion(found), job.ShortVersion(version))
	}
	if err := job.UnmarshalExact(text, &d); err != nil {
		return nil, err
	}
	if !d.InDir {
		dir = ""
	}
	l, at := loader{schemas: map[string]file{}}, " (version "+job.ShortVersion(version)+")"
	for suffix, text := range map[string]string{inputSuffix: d.Input, resultSuffix: d.Result} {
		if text != "" {
			l.schemas[d.Name+suffix] = file{d.Name + suffix + at, "", []byte(text)}
		}
	}
	k := l.kind(d.Name, file{d.Name + ".md" + at, dir, []byte(d.Prompt)})
	unreadable := slices.DeleteFunc(l.problems, func(p Problem) bool { return !p.Unreadable })
	if err := schema.Join(unreadable); err != nil {
		return nil, err
	}
	return k, nil
}
