package strictjson_test

import (
	"errors"
	"fmt"

	"ringback/internal/job"
	"ringback/internal/job/strictjson"
)

// If a body is almost right, the error names what is wrong with it.
func Example() {
	for _, body := range []string{`{"decision": "approve"}`, `{"decison": "approve"}`, `{"decision": 1}`} {
		var reply struct {
			Decision string `json:"decision"`
		}
		object, err := strictjson.Decode([]byte(body))
		if err == nil {
			err = strictjson.Into(object, &reply)
		}
		if e, refused := errors.AsType[*job.Error](err); refused {
			fmt.Println(e.Message)
			for _, d := range e.Details {
				fmt.Println(" ", d.Path, d.Message)
			}
			continue
		}
		fmt.Println(reply.Decision)
	}
	// Output:
	// approve
	// Invalid request
	//   /decison is not a known field; did you mean decision? allowed: decision
	// Invalid request
	//   /decision found a number; expected a string
}
