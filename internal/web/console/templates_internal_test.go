package console

import (
	"reflect"
	"testing"

	"github.com/jba/templatecheck"

	"ringback/client"
)

// The templates name only fields and methods that exist, also where no test renders them.
func TestTemplatesMatchTheirData(t *testing.T) {
	t.Parallel()
	data := map[string]any{
		"again": nil, "approvals": approvalsView{}, "bulk": bulkView{}, "checkpoint": question{}, "docs": docsView{},
		"error": refusal{}, "inbox": inboxView{}, "jobs": jobList{}, "kinds": []client.Kind{}, "leave": leaveView{},
		"new_job": startForm{}, "overview": overviewView{}, "sign_in": signInForm{},
	}
	for _, tab := range []string{"conversation", "review", "timeline", "files", "transcript", "audit"} {
		data["job_"+tab] = jobView{}
	}
	for name, page := range New(Options{}, nil).pages() {
		shown, ok := data[name]
		if !ok {
			t.Errorf("the data of page %s is not listed here", name)
			continue
		}
		if err := templatecheck.CheckHTML(page.Lookup("layout"), with(shown)); err != nil {
			t.Error(name, err)
		}
	}
}

// with returns a page whose data has the type of a value, for a check that follows types.
func with(data any) any {
	var fields []reflect.StructField
	for _, field := range reflect.VisibleFields(reflect.TypeFor[page]()) {
		if field.Name == "Data" && data != nil {
			field.Type = reflect.TypeOf(data)
		}
		fields = append(fields, field)
	}
	return reflect.New(reflect.StructOf(fields)).Elem().Interface()
}
