package upgrade

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

// firstOf9 is the first commit whose stores have to survive, and lastOf9 the last that knows format 9 only.
const firstOf9, lastOf9 = "da9862f7", "4c044794"

func TestMain(m *testing.M) { os.Exit(rig.Main(m)) }
