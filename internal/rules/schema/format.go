package schema

var formatExamples = map[string]string{
	"date":          "2026-01-31",
	"date-time":     "2026-01-31T18:00:00Z",
	"time":          "18:00:00Z",
	"duration":      "PT1H30M",
	"uri":           "https://example.com/page",
	"uri-reference": "https://example.com/page",
	"iri":           "https://example.com/page",
	"email":         "name@example.com",
	"idn-email":     "name@example.com",
	"uuid":          "123e4567-e89b-12d3-a456-426614174000",
	"hostname":      "example.com",
	"ipv4":          "192.0.2.1",
	"ipv6":          "2001:db8::1",
	"json-pointer":  "/name/0",
}

func suchAs(format string) string {
	if value, ok := formatExamples[format]; ok {
		return ", such as " + value
	}
	return ""
}
