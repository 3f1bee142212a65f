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
	release := build{Version: "v1.2.0", Commit: "0123456789ab", Date: "2027-01-02T03:04:05Z"}
	for _, tc := range []struct {
		name    string
		stamped build
		info    *debug.BuildInfo
		want    string
	}{
		{"go build in a clone", build{}, built(pseudo, "false"), "ringback " + pseudo + " (commit cbb2a539ffa7, committed " + at + ", go1)"},
		{"go build of a tag", build{}, built("v1.2.0", "false"), "ringback v1.2.0 (commit cbb2a539ffa7, committed " + at + ", go1)"},
		{"go build with changed files", build{}, built(pseudo+"+dirty", "true"), "ringback " + pseudo + "+dirty (commit cbb2a539ffa7-dirty, committed " + at + ", go1)"},
		{"go build in a worktree, without git or with -buildvcs=false", build{}, &debug.BuildInfo{Main: debug.Module{Version: "(devel)"}}, "ringback dev (commit unknown, go1)"},
		{"go install of a version", build{}, &debug.BuildInfo{Main: debug.Module{Version: "v1.2.0"}}, "ringback v1.2.0 (commit unknown, go1)"},
		{"no build info", build{}, nil, "ringback dev (commit unknown, go1)"},
		{"make build", release, built(pseudo+"+dirty", "true"), "ringback v1.2.0 (commit 0123456789ab, built 2027-01-02T03:04:05Z, go1)"},
		{"make build without build info", release, nil, "ringback v1.2.0 (commit 0123456789ab, built 2027-01-02T03:04:05Z, go1)"},
		{"make build without a tag", build{Commit: "0123456789ab", Date: "2027-01-02T03:04:05Z"}, built(pseudo, "false"), "ringback " + pseudo + " (commit 0123456789ab, built 2027-01-02T03:04:05Z, go1)"},
	} {
		tc.stamped.Go = "go1"
		must.Equal(t, tc.want, tc.stamped.completedBy(tc.info).String(), tc.name)
	}
}
