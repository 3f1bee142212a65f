package job

import "fmt"

// RoundWords is how people read which round of a change something is about: "round 1 of at
// most 6". iteration is how often the change was steered before, 0 in the first round, and
// maxIterations how often it may be; 0 leaves the limit out.
func RoundWords(iteration, maxIterations int) string {
	if maxIterations == 0 {
		return fmt.Sprintf("round %d", round(iteration))
	}
	return fmt.Sprintf("round %d of at most %d", round(iteration), round(maxIterations))
}

// round is what people call an iteration: they count from 1.
func round(iteration int) int { return iteration + 1 }

// IterationOf returns the iteration of a round as people count it, from 1.
func IterationOf(round int) int { return round - 1 }
