package document

import (
	"net/http"
	"slices"
	"testing"

	"ringback/internal/job"
	"ringback/internal/rules/lifecycle"
	"ringback/internal/web/contract"
)

// valuesOf returns the values that a named string of package job has in the source.
func valuesOf(t *testing.T, name string) []string {
	t.Helper()
	var values []string
	for _, v := range descriptions().Values[name] {
		values = append(values, v.Value)
	}
	if values == nil {
		t.Fatalf("the source has no values of %s", name)
	}
	return values
}

// Everything named in the source must be in the tables that the contracts are generated
// from.
func TestNothingIsMissing(t *testing.T) {
	t.Parallel()
	var events []string
	for _, row := range lifecycle.Events {
		events = append(events, string(row.Type))
	}
	for _, event := range valuesOf(t, "job.EventType") {
		if !slices.Contains(events, event) {
			t.Errorf("lifecycle.Events lacks %s", event)
		}
	}
	var kinds []string
	for _, row := range Errors {
		kinds = append(kinds, string(row.Kind))
	}
	for _, kind := range valuesOf(t, "job.ErrorKind") {
		if !slices.Contains(kinds, kind) {
			t.Errorf("the errors lack %s", kind)
		}
	}
}

// If something cannot be described, no document is generated.
func TestWhatIsNotDescribedIsRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]Contract{
		"an unknown parameter":   {Routes: []contract.Route{{Method: http.MethodGet, Path: "/things/:thing", Name: "getThing"}}},
		"two types of one name":  {Routes: []contract.Route{{Method: http.MethodPost, Path: "/a", Name: "a", Body: &contract.Body{Type: Error{}}, Answers: []contract.Answer{{Status: 200, Type: job.Error{}}}}}},
		"two routes of one name": {Routes: []contract.Route{{Method: http.MethodGet, Path: "/a", Name: "a"}, {Method: http.MethodGet, Path: "/b", Name: "a"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if d, err := OpenAPI(c); err == nil {
				t.Errorf("it was described: %s", d)
			}
		})
	}
}

// Error has the same name as another type.
type Error struct {
	Other string `json:"other"`
}
