//go:build !linux

package runner

func spread(string) {}
