package callback

import "ringback/internal/schema"

// schemas are the payload schemas that are the same for every kind.
type schemas struct{ progress, failure, batch, checkpoint, action *schema.Schema }

func compileSchemas() (s schemas, err error) {
	for name, into := range map[string]struct {
		text     string
		compiled **schema.Schema
	}{
		"progress":   {progressSchema, &s.progress},
		"failure":    {failureSchema, &s.failure},
		"batch":      {batchSchema, &s.batch},
		"checkpoint": {checkpointSchema, &s.checkpoint},
		"action":     {actionSchema, &s.action},
	} {
		if *into.compiled, err = schema.New(name+".json", []byte(into.text)); err != nil {
			return schemas{}, err
		}
	}
	return s, nil
}
