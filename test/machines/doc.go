// Package machines tests, from outside, nodes, stores and hosts: restarts, failovers, full disks, jumping clocks and stores that go back in time.
package machines
