package main

import (
	"runtime/debug"
	"testing"

	"ringback/test/must"
)

func TestVersion(t *testing.T) {
	t.Parallel()
	const (
		revision = "cbb2a539ffa7df95856aa304270d3c8185291896"
		pseudo   = "v0.0.0-20261122161434-cbb2a539ffa7"
		at       = "2026-11-22T16:14:34Z"
	)
	built := func(version, modified string) *debug.BuildInfo {
		return &debug.BuildInfo{Main: debug.Module{Version: version}, Settings: []debug.BuildSetting{
			{Key: "vcs", Value: "git"}, {Key: "vcs.revision", Value: revision}, {Key: "vcs.time", Value: at}, {Key: "vcs.modified", Value: modified},
		}}
	}
	for _, tc := range []struct {
		name string
		info *debug.BuildInfo
		want string
	}{
		{"go build in a clone", built(pseudo, "false"), "ringback " + pseudo + " (commit cbb2a539ffa7, committed " + at + ", go1)"},
		{"go build of a tag", built("v1.2.0", "false"), "ringback v1.2.0 (commit cbb2a539ffa7, committed " + at + ", go1)"},
		{"go build with changed files", built(pseudo+"+dirty", "true"), "ringback " + pseudo + "+dirty (commit cbb2a539ffa7-dirty, committed " + at + ", go1)"},
		{"go build in a worktree, without git or with -buildvcs=false", &debug.BuildInfo{Main: debug.Module{Version: "(devel)"}}, "ringback dev (commit unknown, go1)"},
		{"go install of a version", &debug.BuildInfo{Main: debug.Module{Version: "v1.2.0"}}, "ringback v1.2.0 (commit unknown, go1)"},
		{"no build info", &debug.BuildInfo{}, "ringback dev (commit unknown, go1)"},
	} {
		b := recorded(tc.info)
		b.Go = "go1"
		must.Equal(t, tc.want, b.String(), tc.name)
	}
}
