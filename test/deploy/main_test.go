package deploy

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

func TestMain(m *testing.M) { os.Exit(rig.Main(m)) }
