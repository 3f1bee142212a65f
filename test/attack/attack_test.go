package attack

import (
	"os"
	"testing"

	"ringback/test/harness"
)

func TestMain(m *testing.M) { os.Exit(harness.Main(m)) }
