package job

import "fmt"

// RoundWords names a round of a change for people: "round 1 of at most 6". iteration is the number
// of times the change was steered before, 0 in the first round, and maxIterations the limit. If
// maxIterations is 0, the limit is left out.
func RoundWords(iteration, maxIterations int) string {
	if maxIterations == 0 {
		return fmt.Sprintf("round %d", round(iteration))
	}
	return fmt.Sprintf("round %d of at most %d", round(iteration), round(maxIterations))
}

// round returns the number of an iteration for people, who count from 1.
func round(iteration int) int { return iteration + 1 }

// IterationOf returns the iteration of a round, which is counted from 1.
func IterationOf(round int) int { return round - 1 }
