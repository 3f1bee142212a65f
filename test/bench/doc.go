// Package bench tests, from outside, what callbacks, results, jobs and events cost: benchmarks of the real server, and bounds on its allocations.
package bench
