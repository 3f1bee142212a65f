// Package server assembles the parts of a running node, and stops them in order. config reads its settings
// and metrics exposes its figures.
package server

//go:generate go test -vet=off . -run TestTheEmbeddedContractIsUpToDate -update
//go:generate go test -vet=off . -run TestContractsAreCommitted -update
