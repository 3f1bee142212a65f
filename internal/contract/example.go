package contract

import (
	_ "embed"
	"encoding/json"
	"sync"
)

//go:embed examples.json
var examplesJSON []byte

// exchange is a request and its answer, as a test has had them.
type exchange struct {
	Request json.RawMessage `json:"request"`
	Status  int             `json:"status"`
	Answer  json.RawMessage `json:"answer"`
}

// recorded are the examples: what test/contract has sent to a real server and was answered,
// by the names of operations, and what it has heard, by the names of messages.
var recorded = sync.OnceValue(func() (all struct {
	Operations map[string]exchange        `json:"operations"`
	Messages   map[string]json.RawMessage `json:"messages"`
},
) {
	if err := json.Unmarshal(examplesJSON, &all); err != nil {
		panic("contract: " + err.Error()) // it is part of the program
	}
	return all
})
