package contract

import (
	_ "embed"
	"encoding/json"
	"sync"
)

//go:embed examples.json
var examplesJSON []byte

// exchange is a request and its response, as recorded by a test.
type exchange struct {
	Request json.RawMessage `json:"request"`
	Status  int             `json:"status"`
	Answer  json.RawMessage `json:"answer"`
}

// recorded contains the examples that test/contract recorded from a real server: requests
// and responses by the names of operations, and messages by their names.
var recorded = sync.OnceValue(func() (all struct {
	Operations map[string]exchange        `json:"operations"`
	Messages   map[string]json.RawMessage `json:"messages"`
},
) {
	if err := json.Unmarshal(examplesJSON, &all); err != nil {
		panic("contract: " + err.Error()) // the file is embedded in the program
	}
	return all
})
