package bench

import (
	"os"
	"testing"

	"ringback/test/harness"
	"ringback/test/rig"
)

type (
	object = harness.Object
	vars   = harness.Vars
)

func TestMain(m *testing.M) {
	if url := os.Getenv(playBare); url != "" {
		playBareServer(url)
		os.Exit(1)
	}
	os.Exit(rig.Main(m))
}
