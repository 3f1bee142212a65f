// Package sample chooses the cases of expensive tests that make test runs. scripts/test.sh sets
// TEST_SAMPLE to the commit, so that other cases run with each commit; if it is not set, all run.
package sample

import (
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
)

// Cases returns count of a test's cases.
func Cases[C any](t testing.TB, count int, cases map[string]C) map[string]C {
	t.Helper()
	names := Of(t, count, slices.Sorted(maps.Keys(cases)))
	chosen := make(map[string]C, len(names))
	for _, name := range names {
		chosen[name] = cases[name]
	}
	return chosen
}

// Of is Cases for cases without names.
func Of[C any](t testing.TB, count int, cases []C) []C {
	t.Helper()
	if len(cases) <= count {
		return cases
	}
	random := choice(t, "%d of %d cases", count, len(cases))
	if random == nil {
		return cases
	}
	chosen := slices.Clone(cases)
	random.Shuffle(len(chosen), func(i, j int) { chosen[i], chosen[j] = chosen[j], chosen[i] })
	return chosen[:count]
}

// Every is for a test that repeats itself for each of many steps: it returns the first step that
// runs and the distance to the next one. In a sample, every nth step runs.
func Every(t testing.TB, n int) (first, distance int) {
	t.Helper()
	if random := choice(t, "1 of %d steps", n); random != nil {
		return random.IntN(n), n
	}
	return 0, 1
}

// OneIn is for a test that costs as much as many others: in a sample, it runs with one of n commits.
func OneIn(t testing.TB, n int) {
	t.Helper()
	if random := choice(t, "runs with 1 of %d commits", n); random != nil && random.IntN(n) > 0 {
		t.SkipNow()
	}
}

// choice returns the source of a test's choices, or nil if all its cases run. A test that fails
// shows how much of it ran, and how all of it does.
func choice(t testing.TB, part string, numbers ...any) *rand.Rand {
	t.Helper()
	seed := os.Getenv("TEST_SAMPLE")
	if seed == "" {
		return nil
	}
	t.Logf(part+", TEST_SAMPLE=%s; make test-all runs all", append(numbers, seed)...)
	sum := fnv.New64a()
	sum.Write([]byte(seed + t.Name()))
	return rand.New(rand.NewPCG(sum.Sum64(), 0))
}
