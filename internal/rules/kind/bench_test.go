package kind_test

import (
	"testing"

	"ringback/internal/rules/kind"
)

func BenchmarkLoad(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		kind.Load(kind.Builtin())
	}
}
