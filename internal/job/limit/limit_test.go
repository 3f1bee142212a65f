package limit_test

import (
	"strings"
	"testing"

	"ringback/internal/job/limit"
	"ringback/test/must"
)

func TestSizesAreReadAsTheyAreWritten(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"512MiB": "512 MiB", "1024 MiB": "1 GiB", "1TiB": "1 TiB", "3KiB": "3 KiB", "1": "", "1B": "", "1gib": "", "": "", "9223372036854775807KiB": ""} {
		var size limit.Bytes
		if err := size.UnmarshalText([]byte(text)); (err != nil) != (want == "") || err == nil && size.String() != want {
			t.Errorf("%q: got %s, %v, want %q", text, size, err, want)
		}
	}
}

func TestAtLeastLeavesOutWhatIsNotSet(t *testing.T) {
	t.Parallel()
	got := limit.Limits{Processes: 3, FileSize: limit.TiB}.AtLeast(limit.CLI)
	must.Equal(t, limit.Limits{Processes: limit.CLI.Processes, FileSize: limit.TiB}, got)
}

func TestReachedLimitsAreKnownByWhatIsPrinted(t *testing.T) {
	t.Parallel()
	all := limit.Limits{Memory: limit.GiB, Processes: 64, FileSize: limit.MiB}
	for printed, want := range map[string]string{
		"sh: 1: Cannot fork": "64 processes", "bash: fork: retry: Resource temporarily unavailable": "64 processes",
		"RuntimeError: can't start new thread": "64 processes", "fork/exec /bin/sh: resource temporarily unavailable": "64 processes",
		"runtime: failed to create new OS thread (have 5 already; errno=11)": "64 processes", "Error: spawn sh EAGAIN": "64 processes",
		"java.lang.OutOfMemoryError: unable to create native thread": "64 processes",
		"MemoryError": "1 GiB of memory", "xrealloc: cannot allocate memory": "1 GiB of memory", "terminate called after throwing an instance of 'std::bad_alloc'": "1 GiB of memory",
		"fatal error: runtime: out of memory": "1 GiB of memory", "OSError: [Errno 27] File too large": "1 MiB for the size of a file", "write x: file too large\n": "1 MiB for the size of a file",
		"File size limit exceeded (core dumped)":                 "1 MiB for the size of a file",
		"--- FAIL: TestUpload: got 413 file too large, want 200": "", "forks and knives": "", "exit status 1": "", "": "",
	} {
		got := all.Reached(false, printed)
		if want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%q: got %q, want %q", printed, got, want)
		}
		must.Equal(t, "", (limit.Limits{}).Reached(true, printed), printed, "without limits got")
	}
}
