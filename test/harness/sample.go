package harness

import (
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
)

// Sample returns count of a test's cases. TEST_SAMPLE chooses them: scripts/test.sh sets it to
// the commit, so that other cases run with each commit. All cases run if it is not set.
func Sample[C any](t testing.TB, count int, cases map[string]C) map[string]C {
	t.Helper()
	names := SampleOf(t, count, slices.Sorted(maps.Keys(cases)))
	chosen := make(map[string]C, len(names))
	for _, name := range names {
		chosen[name] = cases[name]
	}
	return chosen
}

// SampleOf is Sample for cases without names.
func SampleOf[C any](t testing.TB, count int, cases []C) []C {
	t.Helper()
	seed := os.Getenv("TEST_SAMPLE")
	if seed == "" || len(cases) <= count {
		return cases
	}
	sum := fnv.New64a()
	sum.Write([]byte(seed + t.Name()))
	chosen := slices.Clone(cases)
	rand.New(rand.NewPCG(sum.Sum64(), 0)).Shuffle(len(chosen), func(i, j int) { chosen[i], chosen[j] = chosen[j], chosen[i] })
	t.Logf("%d of %d cases run: TEST_SAMPLE is %q", count, len(cases), seed)
	return chosen[:count]
}
