package callback

import "ringback/internal/rules/schema"

// schemas are the payload schemas that are the same for every kind, by their source.
type schemas map[string]*schema.Schema

func compileSchemas() (schemas, error) {
	all := schemas{}
	for _, source := range []string{progressSchema, failureSchema, batchSchema, checkpointSchema, actionSchema} {
		var err error
		if all[source], err = schema.New("payload", []byte(source)); err != nil {
			return nil, err
		}
	}
	return all, nil
}
